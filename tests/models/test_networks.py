"""Networks by name: as many weights as were published, and configurations as files state them."""

import json
from pathlib import Path

import pytest

import aspenpy
from aspenpy.models.networks import network_names

WEIGHTS = {  # of the reports that the files cite; in billions, as many digits as they print
    "llama2_7b": (6.74, 0.01),
    "llama2_13b": (13.02, 0.01),
    "llama2_70b": (68.98, 0.01),
    "llama3_8b": (8.03, 0.01),
    "llama3_70b": (70.55, 0.01),
    "llama3_405b": (405.85, 0.01),
    "mistral_7b": (7.24, 0.01),
    "mixtral_8x7b": (46.70, 0.01),
    "mixtral_8x22b": (140.6, 0.1),
    "qwen2_5_7b": (7.61, 0.01),
    "qwen2_5_14b": (14.77, 0.05),
    "qwen3_32b": (32.76, 0.01),
    "qwen3_235b_a22b": (235, 0.5),
    "qwen3_30b_a3b": (30.5, 0.05),
    "kimi_k2": (1040, 15),  # in trillions, 1.04
    "gpt2": (0.124, 0.001),
    "gpt3_175b": (175, 0.7),
    "deepseek_v3": (671, 0.5),
}
LLAMA = {
    "model_type": "llama",
    "num_hidden_layers": 2,
    "hidden_size": 64,
    "num_attention_heads": 4,
    "intermediate_size": 128,
    "vocab_size": 100,
}


@pytest.mark.parametrize("name", network_names())
@pytest.mark.parametrize("application", ["transformer_training", "transformer_serving"])
def test_weights_are_those_published(name: str, application: str) -> None:
    app = aspenpy.load_application(application)
    size = aspenpy.memory(app, set=aspenpy.read_network(name)).data["weight"].size
    billions, digits = WEIGHTS[name]
    assert float(size) / 2 / 1e9 == pytest.approx(billions, abs=digits)


def test_latent_attention_by_hand() -> None:
    # DeepSeek-V3: queries over 1536 numbers to 128 heads of 192; keys and values over 512 and 64 that are rotated to
    # 128 and 128 of each head; the output. A step reads 512 + 64 numbers a token and layer, and multiplies with them.
    app = aspenpy.load_application("transformer_serving")
    values = {**aspenpy.read_network("deepseek_v3"), "layers": 1, "dense_layers": 0, "launches": 0}
    attention = 7168 * 1536 + 1536 * 128 * 192 + 7168 * 576 + 512 * 128 * 256 + 128 * 128 * 7168
    experts = 9 * 3 * 7168 * 2048
    values |= {"batch": 1, "prompt": 1000, "answer": 200}
    pairs = 2 * 128 * 1100 * (2 * 512 + 64)
    flops = 2 * (attention + experts) + pairs + 2 * 7168 * 129280
    assert float(aspenpy.count(app, "flops", kernel="decode_step", set=values)) == pytest.approx(flops, rel=1e-12)
    less = float(aspenpy.count(app, "loads", kernel="decode_step", set=values | {"prompt": 0.5}))
    more = float(aspenpy.count(app, "loads", kernel="decode_step", set=values | {"prompt": 1000.5}))
    assert more - less == pytest.approx(1000 * 576 * 2, rel=1e-9)


@pytest.mark.parametrize(
    ("layers_without", "by_hand"), [(0, 2 * 4 * 3 * 64 * 32), (1, 3 * 64 * 32 * (4 + 2)), (2, 2 * 2 * 3 * 64 * 32)]
)
def test_layers_without_experts_have_the_weights_that_a_token_asks(layers_without: int, by_hand: int) -> None:
    # Two layers of 64 channels; four experts of three matrices to 32 numbers, of which a token asks two.
    values = {"layers": 2, "hidden": 64, "heads": 4, "kv_heads": 4, "feed_forward": 32, "matrices": 3, "vocabulary": 10}
    values |= {"experts": 4, "active_experts": 2, "dense_layers": layers_without}
    size = aspenpy.memory(aspenpy.load_application("transformer_training"), set=values).data["weight"].size
    assert float(size) / 2 == by_hand + 2 * 4 * 64 * 64 + 2 * 10 * 64


def read(folder: Path, config: object) -> dict[str, float]:
    file = folder / "config.json"
    file.write_text(config if isinstance(config, str) else json.dumps(config), encoding="utf-8")
    return aspenpy.read_network(file)


def test_a_configuration_that_leaves_out_what_is_usual(tmp_path: Path) -> None:
    expected = {"layers": 2, "hidden": 64, "heads": 4, "kv_heads": 4, "feed_forward": 128, "vocabulary": 100}
    assert read(tmp_path, LLAMA) == expected | {"matrices": 3, "embeddings": 2}
    more = {"model_type": "gpt2", "intermediate_size": None, "head_dim": None}
    assert read(tmp_path, LLAMA | more) == expected | {"feed_forward": 256, "matrices": 2, "embeddings": 1}
    assert read(tmp_path, LLAMA | {"tie_word_embeddings": True})["embeddings"] == 1


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ("{", "is no JSON"),
        ("[" * 200_000, "nested too deeply"),
        ([1], "has no keys"),
        (LLAMA | {"model_type": "mamba"}, "of the family `mamba`, whose layers are not known"),
        (LLAMA | {"model_type": ["llama"]}, "whose layers are not known"),
        (LLAMA | {"decoder_sparse_step": 2}, "has `decoder_sparse_step`: its layers are not those"),
        (LLAMA | {"hidden_size": None}, "does not state `hidden_size` or `n_embd`"),
        (LLAMA | {"hidden_size": 64.5}, "`hidden_size` of .* is no whole number, but 64.5"),
        (LLAMA | {"kv_lora_rank": 8}, "does not state `qk_nope_head_dim`"),
        (LLAMA | {"first_k_dense_replace": 1, "moe_intermediate_size": 50}, "of another width than the 50"),
    ],
)
def test_what_is_refused(tmp_path: Path, config: object, message: str) -> None:
    with pytest.raises(aspenpy.AspenError, match=message):
        read(tmp_path, config)


@pytest.mark.parametrize(
    ("key", "usual", "other"),
    [
        ("moe_layer_freq", 1, 2),
        ("decoder_sparse_step", 1, 2),
        ("mlp_only_layers", [], [0]),
        ("shared_expert_intermediate_size", None, 512),
    ],
)
def test_layers_that_are_all_alike(tmp_path: Path, key: str, usual: object, other: object) -> None:
    """Every layer, one of one, has experts; only a file that says otherwise is refused."""
    path = tmp_path / "config.json"
    for given in ({}, {key: usual}, {key: None}):
        path.write_text(json.dumps(LLAMA | given), encoding="utf-8")
        assert aspenpy.read_network(path)["layers"] == 2
    path.write_text(json.dumps(LLAMA | {key: other}), encoding="utf-8")
    with pytest.raises(aspenpy.AspenError, match=f"has `{key}`: its layers are not those"):
        aspenpy.read_network(path)


def test_a_name_that_is_misspelt() -> None:
    with pytest.raises(aspenpy.AspenError, match="did you mean `llama3_405b`") as caught:
        aspenpy.read_network("llama3_405x")
    assert "not found" in str(caught.value)
