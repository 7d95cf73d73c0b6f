"""What the fake role knows of models: some of each state, with a long name among them."""

from __future__ import annotations

from typing import Any

_MB = 1_000_000
LONG = "a-very-long-name-of-a-multilingual-encoder-that-somebody-has-published-with-every-detail-in-it-v2.1"
CLOSED = {
    "code": "error",
    "message": "closed/model is closed to you: it is private, asks for consent to its terms, or does not exist.",
    "advice": "Check the name. Else open its page in a browser, accept the terms, make an access token there, set it "
    "as HF_TOKEN, and try again.",
}
DAMAGED = {"code": "model_damaged", "message": "The model damaged is damaged.", "advice": "Add it again."}
MODELS: tuple[dict[str, Any], ...] = (
    {"id": "all-MiniLM-L6-v2", "kind": "encoder", "source": "sentence-transformers/all-MiniLM-L6-v2", "size": 240 * _MB,
     "licence": "Apache-2.0", "installed": True, "active": True, "languages": ["en"], "memory": 340 * _MB,
     "about": "English texts, small and fast."},
    {"id": "bge-m3", "kind": "encoder", "source": "BAAI/bge-m3", "spec": "BAAI/bge-m3", "size": 5_900 * _MB,
     "licence": "MIT", "installed": False, "active": False, "languages": ["many"], "download": 2_295 * _MB,
     "memory": 3_000 * _MB,
     "about": "The best search in every language, by meaning and learned words. Large: better with a fast computer."},
    {"id": "some-lab/half", "kind": "encoder", "source": "some-lab/half", "spec": "some-lab/half", "size": 200 * _MB,
     "licence": "MIT", "installed": False, "active": False, "languages": ["en"], "download": 30 * _MB, "partial": True},
    {"id": LONG, "kind": "encoder", "source": f"lab/{LONG}", "spec": f"lab/{LONG}", "size": 300 * _MB, "licence": "",
     "installed": False, "active": False, "languages": ["en", "de", "fr"], "damaged": True},
    {"id": "multilingual-e5-small", "kind": "encoder", "source": "intfloat/multilingual-e5-small", "size": 1_370 * _MB,
     "licence": "MIT", "installed": True, "active": False, "languages": ["many"], "memory": 800 * _MB, "outdated": True,
     "about": "Search in about a hundred languages, and across them, on any computer."},
    {"id": "ms-marco-MiniLM-L6-v2", "kind": "reranker", "source": "cross-encoder/ms-marco-MiniLM-L6-v2",
     "size": 270 * _MB, "licence": "Apache-2.0", "installed": True, "active": False, "languages": ["en"],
     "memory": 300 * _MB, "about": "Reads the best passages again, in English."},
    {"id": "Giant-70B", "kind": "llm", "source": "lab/Giant-70B", "spec": "lab/Giant-70B", "size": 40_000 * _MB,
     "licence": "Apache-2.0", "installed": False, "active": False, "languages": ["many"], "download": 40_000 * _MB,
     "memory": 44_000 * _MB},
    {"id": "Qwen2.5-0.5B-Instruct-GGUF", "kind": "llm", "source": "Qwen/Qwen2.5-0.5B-Instruct-GGUF",
     "spec": "Qwen/Qwen2.5-0.5B-Instruct-GGUF", "size": 491 * _MB, "licence": "Apache-2.0", "installed": False,
     "active": False, "languages": ["many"], "download": 491 * _MB, "memory": 900 * _MB, "partial": True,
     "about": "Short answers in 29 languages, quick on any computer."},
    {"id": "SmolLM2-135M-Instruct-Q4_1", "kind": "llm", "source": "HuggingFaceTB/SmolLM2-135M-Instruct",
     "size": 98 * _MB, "licence": "Apache-2.0", "installed": True, "active": True, "languages": ["en"],
     "memory": 400 * _MB, "about": "Very short English answers on any computer.", "quantisation": "Q4_1",
     "context": 8192, "read_speed": 812.4, "write_speed": 8.25},
)  # fmt: skip


OFFERS = {"url": "http://127.0.0.1:8080/v1", "host": "127.0.0.1:8080", "models": ["small-one", "large-one"]}
OUTSIDE = {
    "code": "error",
    "message": "api.example.com is outside of this computer and its private networks: nothing was sent.",
    "advice": "Allow it for this endpoint if you want your passages to go there.",
}


def listing(
    *, added: str = "", used: str = "", removed: str = "", renewed: str = "", measured: str = "",
    endpoint: dict[str, Any] | None = None,
) -> dict[str, Any]:  # fmt: skip
    """The list after one change."""
    rows = [dict(model) for model in MODELS]
    for row in rows:
        if row.get("spec") == added and added:
            row.update(installed=True, partial=False, damaged=False)
        if removed in (row["id"], row.get("spec")) and removed:
            row.update(installed=False, partial=False)
        if row["id"] == renewed:
            row.update(outdated=False)
        if row["id"] == measured:
            row.update(read_speed=400.0, write_speed=21.0)
        if used:
            kind = next(m["kind"] for m in MODELS if m["id"] == used)
            row["active"] = row["id"] == used if row["kind"] == kind else row["active"]
    told = {"memory": 16_000 * _MB, "endpoint": endpoint}
    return {"models": rows, "library_encoder": "all-MiniLM-L6-v2", **told}


def needs(spec: str) -> dict[str, Any]:
    row = next((m for m in MODELS if m.get("spec") == spec), MODELS[1])
    return {
        "id": row["id"], "spec": spec, "kind": row["kind"], "source": row["source"], "licence": row["licence"],
        "languages": row["languages"], "download": row.get("download", 0), "disk": row["size"],
        "memory": row.get("memory", 0), "free": 1_000 * _MB if row["licence"] == "" else 80_000 * _MB,
        "about": row.get("about", ""),
    }  # fmt: skip
