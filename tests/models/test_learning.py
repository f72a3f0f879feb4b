"""resnet50, diffusion_step, graph_network, recommendation: counts by hand, and published speeds."""

import pytest

import aspenpy


def count(name: str, resource: str, **values: float | str) -> float:
    return float(aspenpy.count(aspenpy.load_application(name), resource, set=values))


# A convolution has a multiply-add for each pixel, tap, input and output. With q = 56^2 64^2, which is the same in each
# stage, a bottleneck has (4 + 9 + 4) q; the first of a stage 8 q for its wider and larger input and 8 q beside it (q
# and 4 q in the first stage): 52 + 80 + 114 + 63 = 309 q.
MULTIPLY_ADDS = 112**2 * 64 * 147 + 309 * 56**2 * 64**2 + 2048 * 1000


def test_resnet50_has_the_operations_of_the_paper() -> None:
    assert count("resnet50", "flops", phase="inference", batch=3) == 3 * 2 * MULTIPLY_ADDS
    assert count("resnet50", "flops", batch=3) == 3 * 6 * MULTIPLY_ADDS
    assert pytest.approx(4.09e9, rel=0.001) == MULTIPLY_ADDS  # torchvision, `ResNet50_Weights`: 4.09 GFLOPS


def test_resnet50_has_the_weights_of_the_paper() -> None:
    size = aspenpy.memory(aspenpy.load_application("resnet50")).data["weight"].size
    norms_and_biases = 2 * 26560 + 1000  # a scale and a shift for each of 26,560 channels
    assert float(size) / 4 + norms_and_biases == 25557032  # torchvision


def test_resnet50_reads_and_writes_what_layers_have() -> None:
    # In numbers of an image of the first stage, 56^2 64.
    image = 56**2 * 64
    written = 4 * image + 22 * image + 31 * image / 2 + 43 * image / 4 + 25 * image / 8
    largest, sums = image, 4 * image * (3 + 4 / 2 + 6 / 4 + 3 / 8)
    by_hand = 2 * (written + largest + sums + 1000)
    assert count("resnet50", "stores", phase="inference", rectify="fused", batch=1) == by_hand


@pytest.mark.parametrize(
    ("machine", "values", "images", "factor"),
    [  # NVIDIA, DeepLearningExamples, PyTorch/Classification/ConvNets/resnet50v1.5: images a second
        ("a100_80gb", {}, 2470, 1.3),
        ("v100", {}, 1200, 1.2),
        ("v100", {"phase": "inference"}, 3382, 1.2),
        ("v100", {"phase": "inference", "batch": 128}, 3249, 1.25),
    ],
)
def test_images_a_second(machine: str, values: dict[str, float | str], images: float, factor: float) -> None:
    app = aspenpy.load_application("resnet50")
    rate = float(values.get("batch", 256)) / aspenpy.predict(app, aspenpy.load_machine(machine), set=values).runtime
    assert images / 1.05 < rate < factor * images


@pytest.mark.parametrize(("image", "published"), [(256, 118.64e9), (512, 524.60e9)])
def test_a_diffusion_step_has_the_operations_of_the_paper(image: int, published: float) -> None:
    # DiT-XL/2: Peebles and Xie, ICCV 2023, table 4, in multiply-adds; embeddings of time and class are left out.
    tokens, hidden = (image // 16) ** 2, 1152
    layer = tokens * 12 * hidden**2 + 2 * tokens**2 * hidden + 6 * hidden**2
    by_hand = 28 * layer + tokens * hidden * (16 + 32) + 2 * hidden**2
    assert count("diffusion_step", "flops", image=image) == 2 * by_hand
    assert by_hand == pytest.approx(published, rel=0.0005)


def test_a_diffusion_step_with_guidance_is_two() -> None:
    one, two = (count("diffusion_step", "flops", guidance=passes, batch=4) for passes in (1, 2))
    assert two == 2 * one


def test_a_graph_network_by_hand() -> None:
    # Layers 10 -> 32 -> 32 -> 5: rows are gathered where they are narrower, 10, 32 and 5 numbers.
    small = {"nodes": 1000, "edges": 8000, "inputs": 10, "hidden": 32, "classes": 5}
    gathered, products = 10 + 32 + 5, 10 * 32 + 32 * 32 + 32 * 5
    flops = 2 * 8000 * gathered + 2 * 1000 * products
    assert count("graph_network", "flops", **small) == flops
    loads = 8000 * 4 * gathered + 3 * (8000 * 8 + 1000 * 8) + 1000 * 4 * (10 + 32 + 32)
    assert count("graph_network", "loads", **small) == pytest.approx(loads, rel=1e-12)
    training = 2 * 2 * 8000 * gathered + 3 * 2 * 1000 * products
    assert count("graph_network", "flops", phase="training", **small) == training


def test_recommendation_by_hand() -> None:
    # 27 vectors of 128 numbers: 351 pairs; perceptrons 13-512-256-128 and 479-1024-1024-512-256-1.
    perceptrons = 13 * 512 + 512 * 256 + 256 * 128 + 479 * 1024 + 1024 * 1024 + 1024 * 512 + 512 * 256 + 256
    forward = 2 * perceptrons + 2 * 27**2 * 128
    assert count("recommendation", "flops", phase="inference", batch=10) == 10 * forward
    assert count("recommendation", "flops", batch=10) == 10 * (3 * forward + 2 * 26 * 128)
    assert count("recommendation", "messages", batch=1024, ranks=8) == pytest.approx(
        # to each of eight ranks a part of the rows, and back; the perceptrons' gradients: volumes of one rank each
        8 * (2 * 128 * 26 / 8 * 128 * 2 + perceptrons * 2)
    )
    rows = aspenpy.memory(aspenpy.load_application("recommendation")).data["table"].size
    assert float(rows) == 187767399 * 128 * 4
