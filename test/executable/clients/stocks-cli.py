"""The calls of LabID's command line client (stocks-cli 0.3.0) in its order, with the library that every Python has.

Arguments: address of the server, username, password. Prints what it found as one JSON object.
"""

import csv
import datetime
import json
import sys
import urllib.error
import urllib.parse
import urllib.request

server, username, password = sys.argv[1:4]
base = f"{server}/api/v2/"
headers = {"Accept": "*/*"}


def call(method, path, body=None, expect=(200, 201, 202, 204), form=None, **parameters):
    address = path if path.startswith("http") else base + path
    if parameters:
        address += "?" + urllib.parse.urlencode(parameters)
    sent = dict(headers)
    data = None
    if body is not None:
        data = json.dumps(body).encode()
        sent["Content-Type"] = "application/json"
    if form is not None:
        data, sent["Content-Type"] = form
    request = urllib.request.Request(address, data, sent, method=method)
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            status, text = response.status, response.read()
    except urllib.error.HTTPError as error:
        status, text = error.code, error.read()
    if status not in expect:
        raise SystemExit(f"{method} {address}: {status} {text[:500]}")
    return json.loads(text) if text else None


FLAT = {"response_format": "flat", "deleted": False}
found = {}

# Sign-in: a wrong password first.
found["refused"] = call("POST", "token-auth/", {"username": username, "password": "x"}, expect=(401,))["message"]
headers["Authorization"] = "Token " + call("POST", "token-auth/", {"username": username, "password": password})["token"]

# Who am I, before anything else.
user = call("GET", f"users/{username}", **FLAT)["results"]
found["user"] = [user["username"], user["primary_group"]["name"], [group["name"] for group in user["groups"]]]
found["version"] = call("GET", "version/")

# Lists: flat, whole, and by following next; a count.
for path in ("annotationtypes", "assays/assays", "assays/experiments", "stocks/consumables", "stocks/specimen",
             "stocks/equipment", "vocabularies/terms", "core/projects"):
    whole = call("GET", path + "/", page_size="max", **FLAT)
    assert set(whole) >= {"previous", "next", "current", "total", "total_pages", "results"}, whole.keys()
    assert len(whole["results"]) == whole["total"] > 0, path
    assert call("GET", path + "/", page_size=1, **FLAT)["total"] == whole["total"]
    page, seen = call("GET", path + "/", page_size=3, **FLAT), []
    while True:
        seen += [record["id"] for record in page["results"]]
        if page["next"] is None:
            break
        page = call("GET", page["next"])
    assert sorted(seen) == sorted(record["id"] for record in whole["results"]), path
    one = call("GET", f"{path}/{seen[0]}", **FLAT)["results"]
    assert one in whole["results"], path

# The filters that it adds.
mine = call("GET", "stocks/consumables/", page_size="max", model_type="ANTIBODY", fields="name,id", **FLAT)
found["antibodies"] = sorted(record["name"] for record in mine["results"])
project = call("GET", "core/projects/", name="Degrons", **FLAT)["results"][0]
within = call("GET", "assays/experiments/", project_id=project["id"], page_size="max", **FLAT)
found["experiments"] = sorted(record["name"] for record in within["results"])

# Its models of experiments, assays and terms.
for record in call("GET", "assays/experiments/", page_size="max", deleted="false")["results"]:
    assert record["status"] in ("PLANNED", "IN PROGRESS", "COMPLETED", "FAILED"), record
    assert isinstance(record["project"], str) and isinstance(record["is_frozen"], bool), record
    for name in ("start_date", "completed_date"):
        if record[name] is not None:
            datetime.datetime.strptime(record[name], "%Y-%m-%d")
    datetime.datetime.fromisoformat(record["created"]["value"])
assay = call("GET", "assays/assays/", page_size="max", **FLAT)["results"][0]
found["assay"] = [type(assay["state"]["value"]).__name__, assay["multiplexed"]]
term = call("GET", "vocabularies/terms/", page_size="max", **FLAT)["results"][0]
assert call("GET", term["url"], **FLAT)["results"] == term

# A record is made, wrapped in results, with its type in the address.
location = call("GET", "locations/", label="Box oligos 1", **FLAT)["results"][0]
made = call("POST", "stocks/consumables/?format=json&response_format=flat&type=OLIGO",
            {"results": {"name": "cli oligo", "location": {"id": location["id"]},
                         "owned_by": {"name": user["primary_group"]["name"]}}})["results"]
found["made"] = [made["name"], made["model_type"], made["location"] == location["id"], made["owned_by"]]

# An annotation type by name, then an annotation.
types = call("GET", "annotationtypes/", name="genotype", **FLAT)
assert types["total"] == 1
annotations = f"stocks/consumables/{made['id']}/annotations/"
call("POST", annotations, {"annotation_type_id": types["results"][0]["id"], "value": "wild type"})
found["annotations"] = [[item["name"], item["value"]] for item in call("GET", annotations)["results"]]

assert call("GET", annotations, search="genotype", **FLAT)["results"][0]["value"] == "wild type"

# Its attachments, a bare list.
of = {"app": "stocks", "model": "consumable", "object_id": made["id"]}
some = {**of, "deleted": "false", "page_size": "max", "ordering": "-created", "embedded": "false"}
assert call("GET", "attachments", **some) == []
part = 'Content-Disposition: form-data; name="file"; filename="gel.txt"\r\nContent-Type: text/plain'
form = (f"--XX\r\n{part}\r\n\r\nlane 1\r\n--XX--\r\n".encode(), "multipart/form-data; boundary=XX")
call("POST", "attachments/", form=form, **FLAT, **of)
[file] = call("GET", "attachments", **some)
MEMBERS = {"url": str, "name": str, "created_by": str, "modified_by": str, "created": str, "modified": str,
           "peek": str, "size": int, "object_id": str, "content_type": int, "filetype": str, "mimetype": str,
           "download_url": str, "direct_url": str, "embedded": bool, "is_export": bool, "autogenerated": bool}
for name, kind in MEMBERS.items():
    assert type(file[name]) is kind, (name, file[name])
datetime.datetime.fromisoformat(file["created"])
found["file"] = [file["name"], file["mimetype"], file["filetype"], file["peek"], file["object_id"] == made["id"]]
assert call("GET", "attachments", is_export="True", mimetype="application/zip", **some) == []

# What an id is.
found["resolved"] = call("GET", f"resolver/{made['id']}")
found["unknown"] = call("GET", "resolver/00000000-0000-4000-8000-00000000ffff")["id"]

# Errors carry a message.
found["error"] = call("POST", "stocks/consumables/", {"results": {}}, expect=(400,))["message"]
call("GET", "stocks/consumables/00000000-0000-4000-8000-00000000ffff", expect=(404,))

for segment in ("stocks/samples/", "assays/instrumentruns/", "core/studies/", "data_management/datasets/"):
    assert call("GET", segment, page_size="max", expect=(200,), **FLAT)["total"] == 0, segment


# The other models, in the shapes that it reads: a type, a list of alternatives, or a dictionary.
def check(value, shape, where):
    if isinstance(shape, dict):
        assert isinstance(value, dict), (where, value)
        for name, part in shape.items():
            check(value.get(name), part, f"{where}.{name}")
    elif isinstance(shape, list):
        assert isinstance(value, list), (where, value)
        for item in value:
            check(item, shape[0], where)
    elif isinstance(shape, tuple):
        assert any(kind is None and value is None or kind and type(value) is kind for kind in shape), (where, value)
    elif isinstance(shape, set):
        assert value in shape, (where, value)
    else:
        assert type(value) is shape, (where, value)


NAMED = {"id": str, "name": str}
ITEM = {**NAMED, "description": str, "owner": str, "owned_by": str, "created": str, "created_by": str,
        "modified": str, "modified_by": str}
REFERENCE = {**NAMED, "deleted": bool, "model_name": str, "app_name": str, "model_type": (str, None)}
TECHNOLOGIES = {"sequencing", "light microscopy", "electron microscopy", "proteomics", "flow cytometry",
                "metabolomics", "other", "NA"}
SHAPES = {
    "core/studies": {**ITEM, "design": [NAMED]},
    "protocols/protocols": {**ITEM, "summary": str, "type": str},
    "protocols/workflows": ITEM,
    "stocks/samples": ITEM,
    "stocks/instrumentmodels": {**ITEM, "technology": TECHNOLOGIES, "platform": str},
    "stocks/equipment": {**ITEM, "code": str, "instrumentmodel": REFERENCE},
    "assays/instrumentruns": {**ITEM, "instrument": REFERENCE, "start_datetime": (str, None),
                              "end_datetime": (str, None), "producer": str, "responsible_person": (str, None),
                              "assays": [NAMED]},
    "assays/assays": {**ITEM, "model_type": str, "state": {"value": str}, "multiplexed": bool,
                      "instrumentrun": (str, None), "instrumentmodel": (str, None), "instrument": (str, None),
                      "flowcell": str, "lane": str, "runtype": {"value": {"single-end", "paired-end", "multi-end"}},
                      "live_base_calling": {"value": {"None", "fast", "other"}},
                      "adaptive_mode": {"value": {"None", "Other", "Enrich", "Deplete"}},
                      "demultiplexed": bool, "info": str},
    "data_management/datasetcollections": {**ITEM, "is_raw": bool},
    "data_management/datasets": {**ITEM, "qc": str, "dataset_type": str, "is_raw": bool, "is_managed": bool,
                                 "datafiles": [NAMED], "samples": [NAMED], "studies": [NAMED],
                                 "assay": (dict, None)},
    "data_management/datafiles": {**ITEM, "uri": str, "filetype": str, "is_folder": bool, "is_managed": bool},
    "data_management/datafilecopies": {**ITEM, "uri": str, "shortname": str, "is_primary_copy": bool,
                                       "datafile": REFERENCE},
    "data_management/storagevolume": ITEM,
    "data_management/archives": ITEM,
}
owner = {name: user[name] for name in ("id", "username", "full_name", "email", "groups", "date_joined", "is_active")}
group = user["primary_group"]


def create(path, name, kind=None, **fields):
    sent = {"name": name, "deleted": False, "type": {"name": kind or "DEFAULT"}, "owner": owner,
            "owned_by": {"id": group["id"], "name": group["name"]}, **fields}
    of_type = {"type": kind} if kind else {}
    record = call("POST", path + "/", {"results": sent}, format="json", response_format="flat", **of_type)["results"]
    assert call("GET", f"{path}/{record['id']}", **FLAT)["results"] == record
    resolved = call("GET", f"resolver/{record['id']}")
    assert resolved["name"] == name and resolved["app_name"] == path.split("/")[0], resolved
    return record


study = create("core/studies", "cli study", project={"id": project["id"]}, design=[{"id": term["id"]}])
protocol = create("protocols/protocols", "cli protocol", "LIBRARY_PREPARATION", summary="Tn5")
create("protocols/workflows", "cli workflow")
sample = create("stocks/samples", "cli sample", "SEQUENCINGLIBRARY", barcode="ACGT")
model = create("stocks/instrumentmodels", "cli model", technology={"value": "sequencing"}, platform="ILLUMINA")
instrument = create("stocks/equipment", "cli sequencer", code="NB5", instrumentmodel={"id": model["id"]})
volume = create("data_management/storagevolume", "cli volume")
create("data_management/archives", "cli archive", storage_volume={"id": volume["id"]})
seen = {"id": instrument["id"], "name": "cli sequencer", "code": "NB5", "deleted": False, "type": "DEFAULT"}
run = create("assays/instrumentruns", "cli run", instrument=seen, responsible_person={"username": username},
             start_datetime="2023-06-14T16:38:49", end_datetime="2023-06-15T16:38:49", producer="GeneCore", assays=[])
again = call("GET", "assays/instrumentruns/", page_size="max", instrument="cli sequencer", name="cli run",
             owner=username, **FLAT)
assert [record["id"] for record in again["results"]] == [run["id"]]
assay = create("assays/assays", "cli assay", "NGSILLUMINAASSAY", multiplexed=True, instrumentrun=run["id"],
               instrument=seen, instrumentmodel="", flowcell="F1", lane="1", runtype={"value": "paired-end"},
               live_base_calling={"value": "None"}, adaptive_mode={"value": "None"}, demultiplexed=True,
               run_dir="/data/run7")

# Raw data of the assay, then derived data of a study, whose group is an id.
def datafile(name):
    return {"name": name, "uri": name, "type": "DEFAULT", "filetype": "fastq", "deleted": False, "status": "NEW",
            "is_folder": False, "is_managed": False, "byte": 7}


def registered(collection, samples, datasets, of, **more):
    body = {"input_dir": "/data/run7", "allow_pooled_samples": True, "transfer_whole_input_dir": True, "owned_by": of,
            "collections": [{"id": "c", "name": collection, "owner": username, "owned_by": of, "type": "DEFAULT",
                             "deleted": False, "is_raw": bool(samples)}],
            "samples": samples, **more,
            "datasets": [{"owner": username, "owned_by": of, "type": "DEFAULT", "deleted": False, "is_managed": False,
                          "is_raw": bool(samples), "dataset_type": "fastq", "collection": "c",
                          "studies": [study["id"]], **dataset} for dataset in datasets]}
    return call("POST", "data_management/datasetcollections/register/", body, format="json")["results"]


library = {"id": "s1", "new": True, "name": "cli library", "barcode": "NA", "type": "SEQUENCINGLIBRARY",
           "owner": username, "owned_by": group["name"]}
raw = registered("cli lane", [library], [{"id": "dataset_0_0", "name": "cli raw", "assay": assay["id"],
                                          "samples": ["s1", sample["id"]], "datafiles": [datafile("a_R1.fastq.gz")]}],
                 group["name"], assays=[{"id": assay["id"], "name": "cli assay", "multiplexed": True}])
derived = registered("cli peaks", [], [{"id": "dataset_1_1", "name": "cli peaks",
                                        "datafiles": [datafile("/scratch/peaks.bed")]}], str(group["id"]))
found["registered"] = [len(raw["samples"]), raw["datafiles"], len(derived["datasets"])]
of_run = {"datasets": [{"name": "cli rerun", "datafiles": [datafile("b_R1.fastq.gz")]}]}
call("PUT", f"assays/instrumentruns/{run['id']}/register/", of_run)
older = {"datasets": [{"datafiles": {"value": [{"uri": "/raw/p.fastq", "name": "p", "filetype": "fastq",
                                                "readtype": "read_1", "checksum": "", "filesize": 9}]},
                       "owner": {"value": {"id": 7, "username": username}}, "sample": {"value": "cli pool"},
                       "barcode": {"value": "TTT"}, "studies": {"value": [{"id": study["id"]}]}}]}
call("PUT", f"assays/assays/{assay['id']}/register/", older, allow_pooled_samples="True")
for path, shape in SHAPES.items():
    whole = call("GET", path + "/", page_size="max", **FLAT)["results"]
    own = [record for record in whole if record["owner"] == username]
    assert own, path
    for record in own:
        check(record, shape, path)

# What it finds by related records, and what of it is missing.
for filters, copies in (({"study_id": study["id"]}, 3), ({"assay_id": assay["id"]}, 3),
                        ({"dataset_id": raw["datasets"][0]["id"]}, 1), ({"project_id": project["id"]}, 3),
                        ({"datasetcollection_id": raw["collections"][0]["id"]}, 1)):
    listed = call("GET", "data_management/datafilecopies/", page_size="max", is_primary_copy="True", **filters, **FLAT)
    assert listed["total"] == copies, (filters, listed["total"])
dropboxes = call("GET", "data_management/dropbox/", **FLAT)
assert dropboxes == [], dropboxes

# The table of files, from which it makes links and submissions.
call("POST", f"stocks/samples/{sample['id']}/annotations/",
     {"annotation_type_id": types["results"][0]["id"], "value": "mutant"})
address = "data_management/datasets/datafilemeta_export?" + urllib.parse.urlencode({**FLAT, "page_size": "max",
                                                                                  "study_id": study["id"]})
with urllib.request.urlopen(urllib.request.Request(base + address, headers=headers), timeout=30) as response:
    table = list(csv.DictReader(response.read().decode().splitlines()))
paths = {copy["uri"] for copy in
         call("GET", "data_management/datafilecopies/", page_size="max", study_id=study["id"], **FLAT)["results"]}
assert {row["FilePath"] for row in table} == paths, (table, paths)
found["table"] = sorted([row["File Name"], row["Sample"], row["Instrument Model"], row["Sample[genotype]"]]
                        for row in table)
call("GET", "core/usagelogs", expect=(403,), start_date="2023-01-01", end_date="2030-01-01", resolution="month",
     aggregate="True", format="json", **FLAT)

# A list as a file.
request = urllib.request.Request(base + "stocks/consumables/?format=csv&fields=name&model_type=OLIGO", headers=headers)
with urllib.request.urlopen(request, timeout=30) as response:
    found["csv"] = sorted(response.read().decode().split("\r\n")[1:-1])
print(json.dumps(found))
