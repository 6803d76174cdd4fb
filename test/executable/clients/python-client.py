"""What the Python client does, against a server: one function for each test, with the name as the argument."""

import io
import os
import sys
import traceback
import warnings

import labd

URL, TOKEN = os.environ["LABD_URL"], os.environ["LABD_TOKEN"]


def pages():
    """Fetches all pages, one record after the other, and converts values."""
    lab = labd.connect()
    report = lab.consumables.import_file([{"name": f"Tube {n}", "amount": f"{n} µL", "lot": "pages"} for n in range(1500)])
    assert report["created"] == 1500, report
    frame = lab.consumables(lot="pages", ordering="name__natural")
    assert frame.shape[0] == 1500 and frame["name"].iloc[-1] == "Tube 1499"
    assert frame["amount"].tolist() == list(range(1500)) and set(frame["unit__name"]) == {"microliter"}
    assert str(frame["created"].dtype) == "datetime64[ns, UTC]" and str(frame["expiry"].dtype) == "datetime64[ns]"
    assert len(lab.consumables(lot="pages", limit=1001)) == 1001
    assert next(lab.consumables.iterate(lot="pages", ordering="amount"))["name"] == "Tube 0"
    names = [f"Tube {n}" for n in range(900)]
    assert len(lab.consumables(name__in=names, lot="pages")) == 900, "a long query goes in the body"
    assert lab.consumables.count(lot="pages", amount__gte=1000) == 500
    empty = lab.consumables(lot="none", fields=["name", "amount"])
    assert empty.shape == (0, 2)


def values():
    """Filters of Python values, and changes of records."""
    import datetime

    lab = labd.connect()
    today = datetime.datetime.now(datetime.timezone.utc).date()
    made = lab.consumables.create(
        {"name": "A", "expiry": today}, {"name": "B", "expiry": today + datetime.timedelta(days=20)}, lot="values"
    )
    ids = [one["id"] for one in made]
    for limit in ("10d", datetime.timedelta(days=10), today + datetime.timedelta(days=10)):
        found = lab.consumables(lot="values", expiry__lte=limit)
        assert found["name"].tolist() == ["A"], (limit, found)
    assert lab.consumables(lot="values", location=None, public=False).shape[0] == 2
    assert lab.consumables(lot="values", name=["A", "B"]).shape[0] == 2
    preview = lab.consumables.update(ids[0], dry_run=True, supplier="X")
    assert preview["dry_run"] is True and lab.consumables.get(ids[0])["supplier"] == ""
    version = lab.consumables.get(ids[0], fields="*")["version"]
    assert lab.consumables.update(made[0], version=version, supplier="X")["supplier"] == "X"
    try:
        lab.consumables.update(ids[0], version=version, supplier="Y")
        raise AssertionError("an old version counted")
    except labd.VersionConflict as error:
        assert error.status == 412, error.status
    assert len(lab.consumables.history(ids[0])) >= 2
    lab.consumables.delete(ids[0])
    assert lab.consumables.count(lot="values") == 1
    lab.consumables.restore(ids[0])
    assert lab.consumables.count(lot="values") == 2
    lab.consumables.save("values.csv", format="csv", lot="values")
    assert len(open("values.csv").read().splitlines()) == 3


def errors():
    """Errors are classes, with the words of the server and the fields."""
    lab = labd.connect()

    def caught(kind, call):
        try:
            call()
        except kind as error:
            assert type(error) is kind and isinstance(error, labd.LabdError), error
            return error
        raise AssertionError(f"no {kind}")

    wrong = caught(labd.InvalidRequest, lambda: lab.consumables(nme="x"))
    assert "Did you mean name?" in str(wrong) and list(wrong.fields) == ["nme"] and wrong.code == "invalid_request"
    assert wrong.request_id
    fields = caught(labd.InvalidRequest, lambda: lab.consumables.create(amount=1)).fields
    assert fields == {"name": ["This field is required."]}, fields
    refused = caught(labd.InvalidRequest, lambda: lab.consumables.import_file([{"name": "", "lot": "a"}]))
    assert str(refused) == "Row 2, name: This field is required." and refused.body["errors"][0]["row"] == 2, refused
    assert "character 3" in str(caught(labd.InvalidRequest, lambda: lab.score("TP53", "F[[")))
    caught(labd.InvalidRequest, lambda: lab.score("NOPE", "PP"))
    caught(labd.NotFound, lambda: lab.consumables.get("00000000-0000-4000-8000-000000000000"))
    caught(labd.NotFound, lambda: lab.consume("no such code", "1 µL"))
    caught(labd.InvalidRequest, lambda: lab.consume("CO0000115", "1 second"))
    caught(labd.InvalidRequest, lambda: lab.consume("CO0000115", "9 ml"))
    del os.environ["LABD_TOKEN"]
    anonymous = labd.connect(URL)
    assert "LABD_TOKEN" in str(caught(labd.NotAuthenticated, lambda: anonymous.consumables.create(name="x")))
    caught(labd.NotAuthenticated, lambda: labd.connect(URL, token="wrong"))
    lost = str(caught(labd.ConnectionFailed, lambda: labd.connect("http://127.0.0.1:1", retries=0)))
    assert "connection refused" in lost and "LABD_URL" in lost, lost
    lost = str(caught(labd.ConnectionFailed, lambda: labd.connect("http://server.invalid", retries=0)))
    assert "the name of the server is unknown" in lost, lost
    lost = str(caught(labd.ConnectionFailed, lambda: labd.connect(os.environ["MOVED"])))
    assert f"redirects to {URL}/api/v2/version/" in lost, lost
    assert "no labd server" in str(caught(labd.ConnectionFailed, lambda: labd.connect(URL + "/help")))


def secrets():
    """Neither messages nor representations nor local variables of the frames have the token."""
    lab = labd.connect()
    out = io.StringIO()
    for call in (
        lambda: lab.consumables(nme="x"),
        lambda: lab.request("GET", "/api/v2/nothing/"),
        lambda: labd.connect("http://127.0.0.1:1", retries=0),
    ):
        try:
            call()
        except labd.LabdError as error:
            caught = traceback.TracebackException.from_exception(error, capture_locals=True)
            out.write("".join(caught.format()))
            out.write(repr(error) + repr(vars(error)))
    out.write(repr(lab) + repr(vars(lab)) + repr(vars(lab._http)) + repr(lab.consumables))
    assert len(out.getvalue()) > 1000
    assert TOKEN not in out.getvalue()
    assert TOKEN not in repr(vars(lab._http._session))


def retried():
    """A change counts once although its answer was lost; PROXY loses the first."""
    direct = labd.connect()
    before = direct.find("CO0000116")
    amount = direct.consumables.get(before["id"])["amount"]
    left = labd.connect(os.environ["PROXY"]).consume(barcode="CO0000116", amount="20 µL")
    assert left["amount"] == amount - 20, (amount, left["amount"])
    assert direct.consumables.get(before["id"])["amount"] == amount - 20


def unrepeatable():
    """An import whose answer was lost is not sent again, and the error says that it may have been made."""
    try:
        labd.connect(os.environ["PROXY"]).consumables.import_file([{"name": "once", "lot": "unrepeatable"}])
        raise AssertionError("no error")
    except labd.ConnectionFailed as error:
        assert "may have been carried out" in str(error), error
    direct = labd.connect()
    while direct.consumables.count(lot="unrepeatable") == 0:
        pass
    assert direct.consumables.count(lot="unrepeatable") == 1


def stock():
    """Uses stock, makes aliquots, and undoes."""
    lab = labd.connect()
    made = lab.consumables.create(name="Ligase", amount=1, unit="ml", barcode="PY-1")
    assert lab.refill("PY-1", "500 µL", lot="L1")["amount"] == 1.5
    aliquots = lab.aliquots("PY-1", 3, "100 µL")
    assert len(aliquots) == 3 and round(lab.consumables.get(made["id"])["amount"], 9) == 1.2
    assert lab.consume(made, 0.2, dry_run=True)["dry_run"] is True
    assert lab.thaw("PY-1")["freeze_thaw_count"] == 1
    assert lab.take_out(made)["taken_out"] is True and lab.put_back(made)["taken_out"] is False
    lab.undo(lab.batches(limit=1)["id"].iloc[0])
    assert lab.consumables.get(made, fields=["taken_out"])["taken_out"] is True
    assert lab.search("PY-1")["id"].tolist() == [made["id"]]
    lab.consumables.create(name="Ligase", barcode="PY-1")
    try:
        lab.consume("PY-1", 1)
        raise AssertionError("no error")
    except labd.AmbiguousCode as error:
        assert made["id"] in str(error)


def version():
    """Warns if the server has another version."""
    labd._client.VERSION = "0.1.0"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        labd.connect()
    assert any("client of labd 0.1.0" in str(one.message) for one in caught), caught


def progress():
    """Progress is shown on standard error where it is asked for."""
    lab = labd.connect(progress=True)
    lab.consumables.import_file([{"name": f"Slide {n}"} for n in range(5000)])
    lab.scan("P04637")
    labd.connect().scan("P04637")


def busy():
    """Waits as long as a busy server asks for, and tries again; PROXY is busy at first."""
    lab = labd.connect(os.environ["PROXY"])
    assert lab.consumables.create(name="busy", lot="busy")["name"] == "busy"
    assert lab.consumables.count(lot="busy") == 1
    try:
        labd.connect(os.environ["BUSY"], retries=1)
        raise AssertionError("no error")
    except labd.Unavailable as error:
        assert error.status == 503 and "Try again" in str(error), error


def interrupted():
    """Starts work that takes long."""
    labd.connect().batch({f"shuffled {n}": "".join(sorted("ACDEFGHIKLMNPQRSTVWY" * 20, key=lambda c: hash((c, n)))) for n in range(3000)})


def plain():
    """Without pandas, tables are lists of dicts."""
    sys.modules["pandas"] = None
    lab = labd.connect()
    [record] = lab.consumables(limit=1)
    assert isinstance(record, dict) and record["id"]
    [match] = lab.score("TP53", "F...W..[LIV]").matches
    assert match["start"] == 19 and match["cs"] > 0.5 and match["disordered"] is True, match


def documented():
    """Classes and functions have docstrings, and the lists those of their fields."""
    lab = labd.connect()
    for owner in (labd.Lab, labd.Records, labd.Score, labd.Scan, labd.ProteomeSearch):
        for name, member in vars(owner).items():
            if callable(member) and not name.startswith("_"):
                assert member.__doc__, (owner, name)
    assert "expiry : day\n        Day of expiry." in lab.consumables.__doc__
    assert "state : one of REQUESTED, ORDERED, RECEIVED" in lab.orders.__doc__
    assert lab.score("TP53", "F...W..[LIV]").columns["phosphosite_distance"].endswith("In residues.")


warnings.simplefilter("error")
warnings.simplefilter("ignore", ResourceWarning)
globals()[sys.argv[1]]()
