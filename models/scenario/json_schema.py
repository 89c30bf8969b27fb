"""JSON Schema of scenario files, for editors and for the copy kept beside the scenarios."""

from __future__ import annotations

import json
from typing import Any

from models.catalog.gpus import gpu_names
from models.catalog.llms import llm_names
from models.catalog.technology import technology_names
from models.scenario.schema import Scenario


def schema() -> dict[str, Any]:
    """The schema, with the names the catalogue allows written out."""
    text = Scenario.model_json_schema()
    definitions = text["$defs"]
    definitions["Candidate"]["properties"]["technology"]["enum"] = list(technology_names())
    definitions["Cluster"]["properties"]["gpu"]["enum"] = list(gpu_names())
    for kind in ("LlmTraining", "Inference"):
        for option in definitions[kind]["properties"]["model"]["anyOf"]:
            if option.get("type") == "string":
                option["enum"] = list(llm_names())
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **text,
        "title": "fabric-compare scenario",
    }


def schema_text() -> str:
    """The schema as text, stable from run to run."""
    return json.dumps(schema(), indent=1, sort_keys=True) + "\n"
