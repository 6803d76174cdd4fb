"""The calls of LabID's command line client (stocks-cli 0.3.0) in its order, with the library that every Python has.

Arguments: address of the server, username, password. Prints what it found as one JSON object.
"""

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

# A list as a file.
request = urllib.request.Request(base + "stocks/consumables/?format=csv&fields=name&model_type=OLIGO", headers=headers)
with urllib.request.urlopen(request, timeout=30) as response:
    found["csv"] = sorted(response.read().decode().split("\r\n")[1:-1])
print(json.dumps(found))
