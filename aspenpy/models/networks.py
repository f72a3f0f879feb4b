"""Networks: parameters of transformer_training and transformer_serving from a published configuration.

Such is the `config.json` of Hugging Face's transformers; those of the library stand in `models/networks`.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from aspenpy.language.diagnostics import fail, suggest_nearest
from aspenpy.language.files import models_folder
from aspenpy.language.opening import read_whole_file

if TYPE_CHECKING:
    from pathlib import Path

KEYS: dict[str, tuple[str, ...]] = {
    "layers": ("num_hidden_layers", "n_layer"),
    "hidden": ("hidden_size", "n_embd"),
    "heads": ("num_attention_heads", "n_head"),
    "kv_heads": ("num_key_value_heads",),
    "head_size": ("head_dim",),
    "feed_forward": ("moe_intermediate_size", "intermediate_size", "n_inner", "ffn_dim"),
    "vocabulary": ("vocab_size",),
    "experts": ("num_local_experts", "num_experts", "n_routed_experts"),
    "active_experts": ("num_experts_per_tok",),
    "shared_experts": ("n_shared_experts",),
    "dense_layers": ("first_k_dense_replace",),
    "query_rank": ("q_lora_rank",),
    "latent": ("kv_lora_rank",),
    "rotated": ("qk_rope_head_dim",),
    "value_size": ("v_head_dim",),
}
"""The keys that state a parameter, of which the first that is there counts."""

NEEDED = ("layers", "hidden", "heads", "vocabulary")
PLAIN = ("gpt2", "gpt_neox", "gptj", "opt", "bloom", "phi", "starcoder2")
GATED = ("llama", "mistral", "mixtral", "qwen2", "qwen3", "qwen3_moe", "gemma", "olmo2", "phi3", "deepseek_v2",
         "deepseek_v3", "kimi_k2")  # fmt: skip
TIED = ("gpt2", "opt", "bloom", "starcoder2", "gemma")
"""Families by the matrices of their perceptrons, two or three, and those that share one table unless they say so."""

ELSEWISE: dict[str, Any] = {
    "shared_expert_intermediate_size": None,
    "mlp_only_layers": [],
    "decoder_sparse_step": 1,
    "moe_layer_freq": 1,
}
"""Keys that tell of layers which the applications do not have, and the values of those that are as theirs."""


def network_names() -> list[str]:
    """The networks of the library, sorted."""
    folder = os.path.join(models_folder(), "networks")
    return sorted(name.removesuffix(".json") for name in os.listdir(folder) if name.endswith(".json"))


def read_network(name_or_path: str | Path) -> dict[str, float]:
    """The parameters that `transformer_training` and `transformer_serving` have for a network.

    `name_or_path` is a network of the library, such as `llama3_405b`, or a `config.json` of Hugging Face.

    :returns: numbers by the name of the parameter, for `set` of `predict` and its sisters
    :raises AspenError: where the file cannot be read, is no such configuration, or tells of layers of another kind
    """
    import json  # costs each command 3 ms that names no network

    text = str(name_or_path)
    path = os.path.join(models_folder(), "networks", f"{text}.json") if text in network_names() else text
    hint = suggest_nearest(text, network_names()) or (
        f"the library has {', '.join(network_names())}; another is named by the path of its config.json"
    )
    content = read_whole_file(path, name=text, hint=hint)
    try:
        config = json.loads(content)
    except ValueError as error:  # of which a text that is no UTF-8 is one
        fail("no-network", f"`{text}` is no JSON: {error}")
    except RecursionError:
        fail("no-network", f"`{text}` is nested too deeply for a config.json")
    if not isinstance(config, dict):
        fail("no-network", f"`{text}` is no config.json: it has no keys")
    return parameters_of(config, text)


def published_networks() -> dict[str, dict[str, Any]]:
    """The parameters of each network of the library, and as `source` where it was published."""
    import json

    networks = {}
    for name in network_names():
        config = json.loads(read_whole_file(os.path.join(models_folder(), "networks", f"{name}.json"), name=name))
        networks[name] = {**parameters_of(config, name), "source": config["_source"]}
    return networks


def parameters_of(config: dict[str, Any], name: str) -> dict[str, float]:
    """The parameters of a configuration that is read; `name` is what messages call it."""
    family = config.get("model_type")
    if family not in (*PLAIN, *GATED):
        hint = f"known are {', '.join(sorted((*PLAIN, *GATED)))}; --set gives parameters one by one"
        fail("unknown-network", f"`{name}` is of the family `{family}`, whose layers are not known", hint=hint)
    for key, usual in ELSEWISE.items():
        if config.get(key, usual) not in (usual, None):
            fail("unknown-network", f"`{name}` has `{key}`: its layers are not those of the applications")
    given = {parameter: _first(config, keys, name) for parameter, keys in KEYS.items()}
    lacking = [" or ".join(f"`{key}`" for key in KEYS[parameter]) for parameter in NEEDED if given[parameter] is None]
    if lacking:
        fail("no-network", f"`{name}` is no config.json of a decoder: it does not state {', '.join(lacking)}")
    values = {parameter: value for parameter, value in given.items() if value is not None}
    values.setdefault("kv_heads", values["heads"])
    values.setdefault("feed_forward", 4 * values["hidden"])  # GPT-2's `n_inner`, which may be null
    values["matrices"] = 2 if family in PLAIN else 3
    values["embeddings"] = 1 if config.get("tie_word_embeddings", family in TIED) else 2
    if "latent" in values:
        values["head_size"] = _first(config, ("qk_nope_head_dim",), name, needed=True) + values["rotated"]
    _require_dense_layers_as_wide(config, values, name)
    return values


def _require_dense_layers_as_wide(config: dict[str, Any], values: dict[str, float], name: str) -> None:
    """Refuses layers without experts whose perceptron is not as wide as all that a token asks elsewhere."""
    wide = (values.get("active_experts", 1) + values.get("shared_experts", 0)) * values["feed_forward"]
    if values.get("dense_layers") and config.get("intermediate_size") != wide:
        message = f"`{name}` has layers without experts of another width than the {wide:g} that a token asks elsewhere"
        fail("unknown-network", message)


def _first(config: dict[str, Any], keys: tuple[str, ...], name: str, *, needed: bool = False) -> Any:
    """The number of the first key that is there; None where none is."""
    for key in keys:
        value = config.get(key)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 1e12:
            fail("no-network", f"`{key}` of `{name}` is no whole number, but {str(value)[:40]}")
        return value
    if needed:
        fail("no-network", f"`{name}` does not state `{keys[0]}`")
    return None
