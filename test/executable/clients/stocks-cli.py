"""The calls of LabID's command line client (stocks-cli 0.3.0) in its order, with the library that every Python has.

Arguments: address of the server, username, password. Prints what it found as one JSON object.
"""

import json
import sys
import urllib.error
import urllib.parse
import urllib.request

server, username, password = sys.argv[1:4]
base = f"{server}/api/v2/"
headers = {"Accept": "*/*"}


def call(method, path, body=None, expect=(200, 201, 202, 204), **parameters):
    address = path if path.startswith("http") else base + path
    if parameters:
        address += "?" + urllib.parse.urlencode(parameters)
    sent = dict(headers)
    data = None
    if body is not None:
        data = json.dumps(body).encode()
        sent["Content-Type"] = "application/json"
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

# Its attachments, a bare list.
assert call("GET", "attachments", app="stocks", model="consumable", object_id=made["id"], deleted="false",
            page_size="max", ordering="-created") == []

# What an id is.
found["resolved"] = call("GET", f"resolver/{made['id']}")
found["unknown"] = call("GET", "resolver/00000000-0000-4000-8000-00000000ffff")["id"]

# Errors carry a message.
found["error"] = call("POST", "stocks/consumables/", {"results": {}}, expect=(400,))["message"]
call("GET", "stocks/consumables/00000000-0000-4000-8000-00000000ffff", expect=(404,))

# A list as a file.
request = urllib.request.Request(base + "stocks/consumables/?format=csv&fields=name&model_type=OLIGO", headers=headers)
with urllib.request.urlopen(request, timeout=30) as response:
    found["csv"] = sorted(response.read().decode().split("\r\n")[1:-1])
print(json.dumps(found))
