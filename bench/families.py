#!/usr/bin/env python3
"""Networks of many families, that nothing is tuned for, as PyTorch's exporter writes them, with random weights.

    python bench/families.py --list
    python bench/families.py -o FOLDER [NAME ...]        FOLDER/NAME.onnx and FOLDER/NAME.npz (its inputs)

`bench.py --models FOLDER` shows with them how the code does on what it was not written for. Transformers have few
layers of their real width, convolutional networks all their layers. Nothing is downloaded: every network is made from
its configuration, by timm, torchvision, transformers and diffusers, or by hand. A name that ends in `_dynb`, `_dynseq`
or `_dynhw` is the network before it with a symbolic batch, sequence or image size; in `_bN`, with N inputs at once.
"""

from functools import partial

import export_models
import torch
from export_models import _decoder, _flatten
from torch import nn
from torch.nn import functional as F
from torchvision.models import get_model
from torchvision.models.segmentation.deeplabv3 import DeepLabHead

# --- What makes a network, its inputs, and the names of inputs and outputs.


@torch.no_grad()
def _finished(model, inputs, outputs):
    """Gives different values to parameters that are all equal, as scales of one, which compilers would fold away, and
    the statistics of the inputs to norms: with others, values vanish or grow without end."""
    for p in model.parameters():
        if p.is_floating_point() and p.numel() and p.min() == p.max():
            p.add_(torch.randn_like(p) * (0.1 if p.ndim < 2 else p[0].numel() ** -0.5))

    def measure(norm, arguments):
        rows = arguments[0].transpose(0, 1).flatten(1)
        if rows.shape[1] > 1:
            variance = rows.var(1)
            norm.running_mean.copy_(rows.mean(1))
            norm.running_var.copy_(variance + 0.05 * variance.mean() + 1e-4)

    norms = [module for module in model.eval().modules() if isinstance(module, nn.modules.batchnorm._BatchNorm)]
    hooks = [norm.register_forward_pre_hook(measure) for norm in norms]
    if hooks:
        model(*inputs.values())
    for hook in hooks:
        hook.remove()
    return model, list(inputs.values()), list(inputs), outputs.split()


def _value(name, shape):
    if name == "bbox":
        return torch.randint(0, 1000, shape).sort(-1).values
    if name.endswith("mask"):
        return torch.ones(shape, dtype=torch.int64)
    whole = name.rstrip("s").endswith(("id", "timestep", "label"))
    return torch.randint(0, 1000, shape) if whole else torch.randn(shape)


def _values(shapes):
    return {name: _value(name, shape) for name, shape in shapes.items()}


def by_hand(make, outputs="output", **shapes):
    return lambda small: _finished(make(), _values(shapes), outputs)


def image(name, batch=1, fused=True, **sizes):
    """A network of timm, at the size of images it was trained with. `fused`: with PyTorch's attention."""

    def build(small):
        import timm

        timm.layers.set_fused_attn(fused)
        model = timm.create_model(name, pretrained=False, **sizes)
        return _finished(model, _values({"input": (batch, *model.pretrained_cfg["input_size"])}), "logits")

    return build


def field(kind, inputs, outputs="last_hidden_state", part="Model", library="transformers", **sizes):
    """A network of transformers or diffusers; outputs are those fields of its result. `part` is the end of its class's
    name, and perhaps the path of a module in it. Functions among the sizes make configurations in the configuration."""

    def build(small):
        package = __import__(library)
        suffix, *path = part.split(".")
        values = {key: value(package) if callable(value) else value for key, value in sizes.items()}
        if library == "diffusers":
            model = getattr(package, kind)(**values)
        else:
            model = getattr(package, kind + suffix)(getattr(package, kind + "Config")(**values))
        for step in path:
            model = getattr(model, step)

        def call(m, *tensors):
            result = m(*tensors) if path else m(**dict(zip(inputs, tensors)))
            return result if torch.is_tensor(result) else tuple(result[name] for name in outputs.split())

        fields = " ".join(f"new_{name}" if name in inputs else name for name in outputs.split())
        return _finished(_flatten(model, call), _values(inputs), fields)

    return build


def encoder(kind, batch=1, length=128, layers="num_hidden_layers", **sizes):
    return field(kind, {"input_ids": (batch, length), "attention_mask": (batch, length)}, **{layers: 2, **sizes})


def causal(kind, past, new, sizes):
    """A language model with `past` tokens in its cache and `new` ones to read."""

    def build(small):
        import transformers

        config = getattr(transformers, kind + "Config")(**{"vocab_size": 16000, "pad_token_id": None, **sizes})
        heads = getattr(config, "num_key_value_heads", None) or config.num_attention_heads
        heads = 1 if getattr(config, "multi_query", False) else heads
        width = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
        model = transformers.AutoModelForCausalLM.from_config(config)
        model, arguments, inputs, outputs = _decoder(model, config, config.num_hidden_layers, heads, width, past, new)
        return _finished(model, dict(zip(inputs, arguments)), " ".join(outputs))

    return build


# --- Networks by hand.


class Residual(nn.Sequential):
    def forward(self, x):
        return x + super().forward(x)


def _run(conv, norm, act, *steps):
    return [layer for step in steps for layer in (conv(*step), norm(step[1]), act())]


def _dense(*widths):
    return nn.Sequential(*[layer for ab in zip(widths, widths[1:]) for layer in (nn.Linear(*ab), nn.ReLU())][:-1])


class UNet(nn.Module):
    def __init__(self, conv, up, norm, pool, channels, widths, classes):
        super().__init__()
        steps = list(zip(widths, widths[1:]))

        def blocks(pairs):
            return nn.ModuleList(
                nn.Sequential(*_run(conv, norm, nn.LeakyReLU, (a, b, 3, 1, 1), (b, b, 3, 1, 1))) for a, b in pairs
            )

        self.pool, self.head = pool(2), conv(widths[0], classes, 1)
        self.down = blocks([(channels, widths[0]), *steps])
        self.up = nn.ModuleList(up(b, a, 2, 2) for a, b in steps[::-1])
        self.merge = blocks([(2 * a, a) for a, b in steps[::-1]])  # fmt: skip

    def forward(self, x):
        kept = []
        for block in self.down:
            x = block(self.pool(x) if kept else x)
            kept.append(x)
        kept.pop()
        for up, merge in zip(self.up, self.merge):
            x = merge(torch.cat([kept.pop(), up(x)], 1))
        return self.head(x)


class GraphStep(nn.Module):
    """ST-GCN's: a graph convolution over joints in three partitions, and a convolution over frames."""

    def __init__(self, a, b, stride=1):
        super().__init__()
        self.graph = nn.Parameter(torch.rand(3, 25, 25) / 25)
        self.conv, self.norm = nn.Conv2d(a, 3 * b, 1), nn.BatchNorm2d(b)
        self.frames = nn.Sequential(nn.Conv2d(b, b, (9, 1), (stride, 1), (4, 0)), nn.BatchNorm2d(b))
        self.short = nn.Identity() if a == b else nn.Sequential(nn.Conv2d(a, b, 1, (stride, 1)), nn.BatchNorm2d(b))

    def forward(self, x):
        y = torch.einsum("nkctv,kvw->nctw", self.conv(x).unflatten(1, (3, -1)), self.graph)
        return F.relu(self.frames(F.relu(self.norm(y))) + self.short(x))


class Causal(nn.Module):
    """Dilated causal convolutions: gated with sums of skips as WaveNet's, or plain as a TCN's."""

    def __init__(self, width, dilations, classes, gated):
        super().__init__()
        self.first, self.gated = nn.Conv1d(1, width, 1), gated
        self.conv = nn.ModuleList(nn.Conv1d(width, (1 + gated) * width, 3 - gated, dilation=d) for d in dilations)
        self.mix = nn.ModuleList(nn.Conv1d(width, width, 1) for _ in dilations)
        self.head = nn.Sequential(nn.ReLU(), nn.Conv1d(width, 256, 1), nn.ReLU(), nn.Conv1d(256, classes, 1))

    def forward(self, x):
        x, skips = self.first(x), 0
        for conv, mix in zip(self.conv, self.mix):
            y = conv(F.pad(x, ((conv.kernel_size[0] - 1) * conv.dilation[0], 0)))
            a, b = y.chunk(2, 1) if self.gated else (None, None)
            y = mix(torch.tanh(a) * torch.sigmoid(b) if self.gated else F.relu(y))
            x, skips = x + y, skips + y
        return self.head(skips if self.gated else x)


class PointNet(nn.Module):
    """PointNet++: around some of the points, the 32 nearest ones, a network for each, and the maximum."""

    def __init__(self):
        super().__init__()
        sizes = [(512, 3, 64, 128), (128, 131, 128, 256), (1, 259, 256, 1024)]
        self.counts, self.head = [size[0] for size in sizes], nn.Linear(1024, 40)
        self.steps = nn.ModuleList(
            nn.Sequential(*_run(nn.Conv2d, nn.BatchNorm2d, nn.ReLU, (a, b, 1), (b, c, 1))) for _, a, b, c in sizes
        )

    def forward(self, points):
        at, features = points, None
        for count, step in zip(self.counts, self.steps):
            near = torch.cdist(at[:, :count], at).topk(32 if count > 1 else at.shape[1], largest=False).indices
            group = at[0][near] - at[:, :count, None]
            group = group if features is None else torch.cat([group, features[0][near]], -1)
            at, features = at[:, :count], step(group.permute(0, 3, 1, 2)).amax(3).transpose(1, 2)
        return self.head(features[:, 0])


class Recommender(nn.Module):
    """DLRM: 26 tables, and the products of all pairs of what was found in them."""

    def __init__(self):
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(10000, 64) for _ in range(26))
        self.bottom, self.top = _dense(13, 512, 256, 64), _dense(64 + 351, 512, 256, 1)
        self.register_buffer("pairs", torch.tril_indices(27, 27, -1))

    def forward(self, dense, ids):
        x = self.bottom(dense).relu()
        rows = torch.stack([x, *(table(ids[:, i]) for i, table in enumerate(self.tables))], 1)
        products = rows @ rows.transpose(1, 2)
        return self.top(torch.cat([x, products[:, self.pairs[0], self.pairs[1]]], 1)).sigmoid()


class DeepAR(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.mean, self.deviation = nn.LSTM(6, 40, batch_first=True), nn.Linear(40, 1), nn.Linear(40, 1)

    def forward(self, x, hidden, cell):
        y, (hidden, cell) = self.lstm(x, (hidden, cell))
        return self.mean(y), F.softplus(self.deviation(y)), hidden, cell


class NBeats(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(_dense(60, 256, 256, 256, 256, 60 + 12) for _ in range(30))

    def forward(self, x):
        forecast = 0
        for block in self.blocks:
            back, step = block(x).split([60, 12], 1)
            x, forecast = x - back, forecast + step
        return forecast


class Separator(nn.Module):
    """Conv-TasNet: what a convolution over samples finds, times a mask for each of two speakers."""

    def __init__(self, width=256, inner=512, dilations=tuple(2**i for i in range(8)) * 2):
        super().__init__()
        self.encode, self.decode = nn.Conv1d(1, width, 16, 8), nn.ConvTranspose1d(width, 1, 16, 8)
        self.masks = nn.Sequential(
            nn.GroupNorm(1, width), nn.Conv1d(width, 128, 1), *(
                Residual(nn.Conv1d(128, inner, 1), nn.PReLU(), nn.GroupNorm(1, inner),
                         nn.Conv1d(inner, inner, 3, 1, d, d, inner), nn.PReLU(), nn.GroupNorm(1, inner),
                         nn.Conv1d(inner, 128, 1)) for d in dilations),
            nn.PReLU(), nn.Conv1d(128, 2 * width, 1), nn.Sigmoid())  # fmt: skip

    def forward(self, x):
        y = self.encode(x).relu()
        masked = self.masks(y).unflatten(1, (2, -1)) * y[:, None]
        return self.decode(masked.flatten(0, 1)).unflatten(0, (-1, 2))


class Speech(nn.Module):
    """DeepSpeech2: two convolutions over the spectrogram, and recurrent layers that read it both ways."""

    def __init__(self, width=400):
        super().__init__()
        steps = (1, 32, (41, 11), 2, (20, 5)), (32, 32, (21, 11), (2, 1), (10, 5))
        self.conv = nn.Sequential(*_run(nn.Conv2d, nn.BatchNorm2d, partial(nn.Hardtanh, 0, 20), *steps))
        self.recurrent = nn.GRU(32 * 41, width, 3, batch_first=True, bidirectional=True)
        self.head = nn.Linear(2 * width, 29)

    def forward(self, x):
        y = self.recurrent(self.conv(x).flatten(1, 2).transpose(1, 2))[0]
        return self.head(y).log_softmax(2)


class Coupling(nn.Module):
    """WaveGlow's: half of the channels, through a WaveNet with the spectrogram, scale and shift the others."""

    def __init__(self, channels=8, width=256, layers=8):
        super().__init__()
        self.mix, self.first = nn.Conv1d(channels, channels, 1, bias=False), nn.Conv1d(channels // 2, width, 1)
        self.mels, self.last = nn.Conv1d(640, 2 * width * layers, 1), nn.Conv1d(width, channels, 1)
        self.conv = nn.ModuleList(nn.Conv1d(width, 2 * width, 3, 1, 2**i, 2**i) for i in range(layers))
        self.skip = nn.ModuleList(nn.Conv1d(width, 2 * width, 1) for _ in range(layers))

    def forward(self, x, spectrogram):
        a, b = self.mix(x).chunk(2, 1)
        y, total = self.first(a), 0
        for conv, skip, mel in zip(self.conv, self.skip, self.mels(spectrogram).chunk(len(self.conv), 1)):
            gates = (conv(y) + mel).chunk(2, 1)
            more, out = skip(gates[0].tanh() * gates[1].sigmoid()).chunk(2, 1)
            y, total = y + more, total + out
        scale, shift = self.last(total).chunk(2, 1)
        return torch.cat([a, (b - shift) * torch.exp(-scale)], 1)


class Radiance(nn.Module):
    """NeRF: density and colour at points, of sines and cosines of where they are and where one looks from."""

    def __init__(self):
        super().__init__()
        self.first, self.second = _dense(63, 256, 256, 256, 256, 256), _dense(256 + 63, 256, 256, 256)
        self.density, self.features, self.colour = nn.Linear(256, 1), nn.Linear(256, 256), _dense(256 + 27, 128, 3)

    def forward(self, points, directions):
        def waves(x, count):
            turns = x[..., None] * 2.0 ** torch.arange(count)
            return torch.cat([x, turns.sin().flatten(-2), turns.cos().flatten(-2)], -1)

        at = waves(points, 10)
        x = self.second(torch.cat([self.first(at).relu(), at], -1)).relu()
        colour = self.colour(torch.cat([self.features(x), waves(directions, 4)], -1)).sigmoid()
        return torch.cat([colour, self.density(x).relu()], -1)


class GraphAttention(nn.Module):
    """GAT, with a dense matrix of edges."""

    def __init__(self, a, b, heads):
        super().__init__()
        self.heads, self.project = heads, nn.Linear(a, heads * b, bias=False)
        self.source, self.target = (nn.Parameter(torch.randn(heads, b) * b**-0.5) for _ in range(2))

    def forward(self, x, edges):
        y = self.project(x).unflatten(1, (self.heads, -1))
        source, target = (torch.einsum("nhc,hc->hn", y, part) for part in (self.source, self.target))
        scores = F.leaky_relu(source[:, :, None] + target[:, None], 0.2)
        weights = scores.masked_fill(edges < 1, -1e9).softmax(2)
        return torch.einsum("hnm,mhc->nhc", weights, y)


class GraphClassifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = GraphAttention(1433, 8, 8), GraphAttention(64, 7, 1)

    def forward(self, x, edges):
        return self.second(F.elu(self.first(x, edges).flatten(1)), edges).mean(1).log_softmax(1)


class ChannelAttention(nn.Sequential):
    """RCAN's: channels, weighted by a network of their means."""

    def __init__(self, width):
        steps = nn.Conv2d(width, width // 16, 1), nn.ReLU(), nn.Conv2d(width // 16, width, 1), nn.Sigmoid()
        super().__init__(nn.AdaptiveAvgPool2d(1), *steps)

    def forward(self, x):
        return x * super().forward(x)


class Clicks(nn.Module):
    """DeepFM, or a DCN: rows of tables through a dense network, and products of all pairs, or crosses, of them."""

    def __init__(self, crosses, fields=26, width=16):
        super().__init__()
        self.table, self.linear = nn.Embedding(100000, width), nn.Embedding(100000, 1)
        for table in (self.table, self.linear):
            nn.init.normal_(table.weight, std=0.1)
        self.register_buffer("starts", torch.arange(fields) * 3000)
        self.deep, self.head = _dense(fields * width, 400, 400, 400), nn.Linear(400 + fields * width * (crosses > 0), 1)
        self.crosses = nn.ModuleList(nn.Linear(fields * width, fields * width) for _ in range(crosses))

    def forward(self, ids):
        rows = self.table(ids + self.starts)
        flat = rows.flatten(1)
        deep = self.deep(flat).relu()
        if self.crosses:
            x = flat
            for cross in self.crosses:
                x = flat * cross(x) + x
            return self.head(torch.cat([x, deep], 1)).sigmoid()
        pairs = 0.5 * (rows.sum(1).square() - rows.square().sum(1)).sum(1, keepdim=True)
        return (pairs + self.head(deep) + self.linear(ids + self.starts).sum(1)).sigmoid()


class Translator(nn.Module):
    """An LSTM reads, another writes, and what it writes looks at what was read."""

    def __init__(self, width=512):
        super().__init__()
        self.source, self.target = nn.Embedding(8000, width), nn.Embedding(8000, width)
        self.read = nn.LSTM(width, width // 2, 2, batch_first=True, bidirectional=True)
        self.write, self.score = nn.LSTM(width, width, 2, batch_first=True), nn.Linear(width, width, bias=False)
        self.mix, self.head = nn.Linear(2 * width, width), nn.Linear(width, 8000)

    def forward(self, input_ids, target_ids):
        read, (hidden, cell) = self.read(self.source(input_ids))
        states = [torch.cat([state[::2], state[1::2]], 2) for state in (hidden, cell)]
        written = self.write(self.target(target_ids), states)[0]
        weights = (self.score(written) @ read.transpose(1, 2)).softmax(2)
        return self.head(torch.tanh(self.mix(torch.cat([weights @ read, written], 2))))


class Splines(nn.Module):
    """A layer of a KAN: a cubic B-spline for every pair of an input and an output."""

    def __init__(self, a, b, parts=5):
        super().__init__()
        self.register_buffer("knots", (torch.arange(parts + 7) - 3) * 2 / parts - 1)
        self.base, self.weight = nn.Linear(a, b, bias=False), nn.Parameter(torch.randn(b, a, parts + 3) * a**-0.5)

    def forward(self, x):
        at, t = x[..., None], self.knots
        bases = ((at >= t[:-1]) & (at < t[1:])).to(x)
        for k in range(1, 4):
            left = (at - t[: -k - 1]) / (t[k:-1] - t[: -k - 1]) * bases[..., :-1]
            bases = left + (t[k + 1 :] - at) / (t[k + 1 :] - t[1:-k]) * bases[..., 1:]
        return self.base(F.silu(x)) + torch.einsum("nak,bak->nb", bases, self.weight)


class Text(nn.Module):
    """CRNN: columns of an image of a line of text, and recurrent layers that read them both ways."""

    def __init__(self):
        super().__init__()
        steps = [(1, 64, 2), (64, 128, 2), (128, 256, 1), (256, 256, (2, 1)), (256, 512, 1), (512, 512, (2, 1))]
        run = partial(_run, nn.Conv2d, nn.BatchNorm2d, nn.ReLU)
        layers = [layer for a, b, pool in steps for layer in (*run((a, b, 3, 1, 1)), nn.MaxPool2d(pool))]
        self.conv = nn.Sequential(*layers, *run((512, 512, 2)))
        self.recurrent, self.head = nn.LSTM(512, 256, 2, batch_first=True, bidirectional=True), nn.Linear(512, 37)

    def forward(self, x):
        return self.head(self.recurrent(self.conv(x).squeeze(2).transpose(1, 2))[0])


def _conv(a, b, k=3, stride=1):
    return nn.Sequential(*_run(partial(nn.Conv2d, bias=False), nn.BatchNorm2d, nn.SiLU, (a, b, k, stride, k // 2)))


class Partial(nn.Module):
    """Half of the channels go through residual blocks."""

    def __init__(self, a, b, count=1):
        super().__init__()
        self.first, self.last = _conv(a, b, 1), _conv(b, b, 1)
        self.body = nn.Sequential(*(Residual(_conv(b // 2, b // 2), _conv(b // 2, b // 2)) for _ in range(count)))

    def forward(self, x):
        a, b = self.first(x).chunk(2, 1)
        return self.last(torch.cat([a, self.body(b)], 1))


class Detector(nn.Module):
    """A YOLO: a backbone of partial blocks, pools in a row, features of three sizes up and down, boxes and classes."""

    def __init__(self, w=32, classes=80):
        super().__init__()
        self.stem = nn.Sequential(_conv(3, w, 3, 2), _conv(w, 2 * w, 3, 2))
        self.body = nn.ModuleList(
            nn.Sequential(_conv(b * w // 2, b * w, 3, 2) if b > 2 else nn.Identity(), Partial(b * w, b * w, count))
            for b, count in ((2, 1), (4, 2), (8, 2), (16, 1))
        )
        self.narrow, self.wide = _conv(16 * w, 8 * w, 1), _conv(32 * w, 16 * w, 1)
        self.up = nn.ModuleList([Partial(24 * w, 8 * w), Partial(12 * w, 4 * w)])
        self.down = nn.ModuleList([_conv(4 * w, 4 * w, 3, 2), _conv(8 * w, 8 * w, 3, 2)])
        self.merge = nn.ModuleList([Partial(12 * w, 8 * w), Partial(24 * w, 16 * w)])
        self.boxes = nn.ModuleList(nn.Sequential(_conv(c * w, 64), nn.Conv2d(64, 64, 1)) for c in (4, 8, 16))
        self.classes = nn.ModuleList(nn.Sequential(_conv(c * w, 128), nn.Conv2d(128, classes, 1)) for c in (4, 8, 16))

    def forward(self, x):
        x, kept = self.stem(x), []
        for body in self.body:
            x = body(x)
            kept.append(x)
        pools = [self.narrow(x)]
        for _ in range(3):
            pools.append(F.max_pool2d(pools[-1], 5, 1, 2))
        small = self.wide(torch.cat(pools, 1))
        middle = self.up[0](torch.cat([F.interpolate(small, scale_factor=2), kept[2]], 1))
        large = self.up[1](torch.cat([F.interpolate(middle, scale_factor=2), kept[1]], 1))
        middle = self.merge[0](torch.cat([self.down[0](large), middle], 1))
        small = self.merge[1](torch.cat([self.down[1](middle), small], 1))
        found = []
        for features, boxes, classes, stride in zip((large, middle, small), self.boxes, self.classes, (8, 16, 32)):
            height, width = features.shape[2:]
            edges = boxes(features).unflatten(1, (4, 16)).softmax(2).mul(torch.arange(16.0)[:, None, None]).sum(2)
            y, x = torch.meshgrid(torch.arange(height) + 0.5, torch.arange(width) + 0.5, indexing="ij")
            at = torch.stack([x, y])
            corners = torch.cat([at - edges[:, :2], at + edges[:, 2:]], 1) * stride
            found.append(torch.cat([corners, classes(features).sigmoid()], 1).flatten(2))
        return torch.cat(found, 2)


def _graph_network():
    steps = [(3, 64), (64, 64), (64, 64), (64, 64), (64, 128, 2), (128, 128), (128, 128), (128, 256, 2), (256, 256)]
    return nn.Sequential(*(GraphStep(*s) for s in steps), nn.AdaptiveAvgPool2d(1), nn.Conv2d(256, 60, 1), nn.Flatten())


def _super_resolution():
    step = (64, 64, 3, 1, 1)
    body = [Residual(*_run(nn.Conv2d, nn.BatchNorm2d, nn.PReLU, step, step)[:-1]) for _ in range(16)]
    grow = [layer for _ in range(2) for layer in (nn.Conv2d(64, 256, 3, 1, 1), nn.PixelShuffle(2), nn.PReLU())]
    return nn.Sequential(nn.Conv2d(3, 64, 9, 1, 4), nn.PReLU(), Residual(*body), *grow, nn.Conv2d(64, 3, 9, 1, 4))


def _small_super_resolution():
    return nn.Sequential(nn.Conv2d(1, 64, 5, 1, 2), nn.Tanh(), nn.Conv2d(64, 32, 3, 1, 1), nn.Tanh(),
                         nn.Conv2d(32, 9, 3, 1, 1), nn.PixelShuffle(3))  # fmt: skip


def _dcgan():
    steps = [(100, 512, 4), (512, 256, 4, 2, 1), (256, 128, 4, 2, 1), (128, 64, 4, 2, 1)]
    return nn.Sequential(*_run(nn.ConvTranspose2d, nn.BatchNorm2d, nn.ReLU, *steps),
                         nn.ConvTranspose2d(64, 3, 4, 2, 1), nn.Tanh())  # fmt: skip


def _cyclegan():
    conv, step = partial(nn.Conv2d, padding_mode="reflect"), (256, 256, 3, 1, 1)
    return nn.Sequential(
        *_run(conv, nn.InstanceNorm2d, nn.ReLU, (3, 64, 7, 1, 3)),
        *_run(nn.Conv2d, nn.InstanceNorm2d, nn.ReLU, (64, 128, 3, 2, 1), (128, 256, 3, 2, 1)),
        *(Residual(*_run(conv, nn.InstanceNorm2d, nn.ReLU, step, step)[:-1]) for _ in range(9)),
        *_run(nn.ConvTranspose2d, nn.InstanceNorm2d, nn.ReLU, (256, 128, 3, 2, 1, 1), (128, 64, 3, 2, 1, 1)),
        conv(64, 3, 7, 1, 3), nn.Tanh())  # fmt: skip


def _upscaler(*blocks):
    grow = [layer for _ in range(2) for layer in (nn.Conv2d(64, 256, 3, 1, 1), nn.PixelShuffle(2))]
    body = Residual(*blocks, nn.Conv2d(64, 64, 3, 1, 1))
    return nn.Sequential(nn.Conv2d(3, 64, 3, 1, 1), body, *grow, nn.Conv2d(64, 3, 3, 1, 1))


def _pair():
    return nn.Conv2d(64, 64, 3, 1, 1), nn.ReLU(), nn.Conv2d(64, 64, 3, 1, 1)


def _edsr():
    return _upscaler(*(Residual(*_pair()) for _ in range(16)))


def _rcan():
    return _upscaler(*(Residual(*(Residual(*_pair(), ChannelAttention(64)) for _ in range(6)),
                                nn.Conv2d(64, 64, 3, 1, 1)) for _ in range(4)))  # fmt: skip


def _style():
    conv, norm = partial(nn.Conv2d, padding_mode="reflect"), partial(nn.InstanceNorm2d, affine=True)
    step = (128, 128, 3, 1, 1)
    return nn.Sequential(
        *_run(conv, norm, nn.ReLU, (3, 32, 9, 1, 4), (32, 64, 3, 2, 1), (64, 128, 3, 2, 1)),
        *(Residual(*_run(conv, norm, nn.ReLU, step, step)[:-1]) for _ in range(5)),
        nn.Upsample(scale_factor=2), *_run(conv, norm, nn.ReLU, (128, 64, 3, 1, 1)),
        nn.Upsample(scale_factor=2), *_run(conv, norm, nn.ReLU, (64, 32, 3, 1, 1)), conv(32, 3, 9, 1, 4))  # fmt: skip


def _autoencoder():
    down, up = ((1, 32, 3, 2, 1), (32, 64, 3, 2, 1), (64, 128, 3, 2, 1)), ((128, 64, 4, 2, 1), (64, 32, 4, 2, 1))
    return nn.Sequential(*_run(nn.Conv3d, nn.BatchNorm3d, nn.LeakyReLU, *down),
                         *_run(nn.ConvTranspose3d, nn.BatchNorm3d, nn.LeakyReLU, *up),
                         nn.ConvTranspose3d(32, 1, 4, 2, 1), nn.Sigmoid())  # fmt: skip


def seen(name, call=lambda m, *x: m(*x), **options):
    """A network of torchvision, and perhaps what is called of it."""

    def make():
        torch.backends.mha.set_fastpath_enabled(False)  # the exporter cannot translate the fused form
        return _flatten(get_model(name, weights=None, **options), call)

    return make


def _found(model, image):
    return tuple(model.head(list(model.backbone(image).values())).values())


# --- The tables.

_WHOLE = """lcnet_100 mobilenetv4_conv_small mobilenetv2_100 resnet18 mnasnet_100 tinynet_a ghostnetv2_100
    mobileone_s0 repvgg_a0 rexnet_100 tf_efficientnetv2_b0 fbnetv3_b starnet_s1 shvit_s1 hgnetv2_b0 mambaout_femto
    repvit_m1 dpn68 selecsls42b regnety_008 regnetz_b16 resnetv2_50 res2net50_26w_4s seresnext26d_32x4d skresnet18
    ecaresnet26t dla34 resnest14d hrnet_w18_small cspdarknet53 vovnet39a xception41 bat_resnext26ts lambda_resnet26t
    botnet26t_256 halonet26t gcresnext26ts nfnet_l0 edgenext_small mobilevit_s mobilevitv2_100 fastvit_t8
    efficientformer_l1 efficientformerv2_s0 efficientvit_b1 efficientvit_m2 levit_128 swiftformer_xs tiny_vit_5m_224
    poolformer_s12 caformer_s18 coatnet_0_rw_224 coat_lite_tiny crossvit_9_240 cait_xxs24_224 xcit_nano_12_p16_224
    pvt_v2_b0 twins_pcpvt_small tnt_s_legacy_patch16_224 visformer_tiny volo_d1_224 mixer_s32_224 resmlp_12_224
    gmlp_s16_224 convmixer_768_32 convnextv2_atto inception_next_tiny focalnet_tiny_srf davit_tiny
    maxxvit_rmlp_nano_rw_256 nextvit_small vitamin_small_224 rdnet_tiny eva02_tiny_patch14_224
    vit_small_patch16_224 convit_tiny cpubone_b0_bfrobust csatv2 cspnext_s efficientvim_m1 fasternet_s
    gcvit_tiny iformer_s inception_resnet_v2 inception_v4 lcnetv2_small lowformer_b0 mvitv2_tiny pit_s_224
    repghostnet_050 legacy_seresnet50 sequencer2d_s swin_tiny_patch4_window7_224 swinv2_tiny_window8_256 tresnet_m
    vit_tiny_r_s16_p8_224 legacy_xception"""
_BASE = dict(hidden_size=768, num_attention_heads=12, intermediate_size=3072)
_LARGE = dict(num_hidden_layers=2, hidden_size=1024, num_attention_heads=16, intermediate_size=4096)
_GEMMA = dict(num_attention_heads=4, num_key_value_heads=1, head_dim=256)
_LOCAL = dict(sliding_window=64, layer_types=["sliding_attention"] * 3 + ["full_attention"])
_EXPERTS = dict(_LARGE, experts_implementation="batched_mm")

# name: class, whether to decode and to prefill, sizes
_DECODERS = {
    "gpt_neox": ("GPTNeoX", "both", dict(_BASE, num_hidden_layers=4)),
    "opt": ("OPT", "decode", dict(num_hidden_layers=4)),
    "bloom": ("Bloom", "both", dict(n_layer=2, hidden_size=1024, n_head=16)),
    "falcon": ("Falcon", "both", dict(num_hidden_layers=2, hidden_size=2048, num_attention_heads=32, vocab_size=8000)),
    "gptj": ("GPTJ", "decode", dict(n_layer=2, n_embd=1024, n_head=16, rotary_dim=32)),
    "gemma": ("Gemma", "decode", dict(_GEMMA, num_hidden_layers=2, hidden_size=1152, intermediate_size=6912)),
    "gemma3": ("Gemma3Text", "both", dict(_GEMMA, **_LOCAL, num_hidden_layers=4, hidden_size=640,
                                          intermediate_size=2048)),
    "mixtral": ("Mixtral", "decode", dict(_EXPERTS, intermediate_size=1408, num_key_value_heads=4)),
    "qwen2_moe": ("Qwen2Moe", "decode", dict(_EXPERTS, num_key_value_heads=16, moe_intermediate_size=512,
                                             num_experts=16, shared_expert_intermediate_size=2048)),
    "olmo": ("Olmo", "decode", _LARGE),
    "olmo2": ("Olmo2", "both", _LARGE),
    "phi": ("Phi", "both", _LARGE),
    "starcoder2": ("Starcoder2", "decode", dict(_LARGE, num_key_value_heads=2)),
    "cohere": ("Cohere", "decode", _LARGE),
    "granite": ("Granite", "prefill", dict(_LARGE, intermediate_size=2048, num_key_value_heads=4)),
    "stablelm": ("StableLm", "prefill", dict(num_hidden_layers=1, hidden_size=2048, intermediate_size=5632,
                                             num_attention_heads=32, num_key_value_heads=32, vocab_size=8000)),
    "gpt_bigcode": ("GPTBigCode", "both", dict(n_layer=2, vocab_size=8000)),
    "codegen": ("CodeGen", "decode", dict(n_layer=2, n_embd=768, n_head=12, rotary_dim=32, vocab_size=4000)),
    "mpt": ("Mpt", "prefill", dict(n_layers=2, d_model=768, n_heads=12, vocab_size=8000)),
    "qwen3": ("Qwen3", "decode", dict(_LARGE, intermediate_size=3072, num_key_value_heads=8, vocab_size=4000)),
    "qwen3_moe": ("Qwen3Moe", "decode", dict(_EXPERTS, hidden_size=768, num_key_value_heads=4, head_dim=64,
                                             num_experts=8, moe_intermediate_size=384, num_experts_per_tok=2,
                                             vocab_size=4000)),
    "phi3": ("Phi3", "prefill", dict(_BASE, num_hidden_layers=2, vocab_size=4000)),
    "llama_gqa": ("Llama", "both", dict(num_hidden_layers=4, hidden_size=576, intermediate_size=1536, vocab_size=8000,
                                        num_attention_heads=9, num_key_value_heads=3)),
    "glm4": ("Glm4", "decode", dict(_BASE, num_hidden_layers=2, num_key_value_heads=2, head_dim=64, vocab_size=4000)),
    "gpt_oss": ("GptOss", "decode", dict(_EXPERTS, hidden_size=640, intermediate_size=640, sliding_window=64,
                                         num_key_value_heads=4, head_dim=64, num_local_experts=8,
                                         num_experts_per_tok=2, vocab_size=4000)),
}  # fmt: skip


def _pixels(height, width, channels=3):
    return {"pixel_values": (1, channels, height, width)}


_IMAGE, _SOUND, _DETECTED = _pixels(224, 224), {"input_values": (1, 16000)}, ("logits pred_boxes", "ForObjectDetection")
_STAGES = dict(out_features=["stage1", "stage2", "stage3", "stage4"])
_SMALL = dict(num_hidden_layers=4, hidden_size=384, num_attention_heads=6)
_LIGHT_DETR = dict(encoder_layers=2, decoder_layers=2, use_timm_backbone=False, use_pretrained_backbone=False,
                   backbone=None, backbone_config=lambda t: t.ResNetConfig(
                       layer_type="basic", hidden_sizes=[64, 128, 256, 512], depths=[2, 2, 2, 2],
                       out_features=["stage4"]))  # fmt: skip
_TIMES = {"past_values": (4, 103), "past_time_features": (4, 103, 2), "past_observed_mask": (4, 103),
          "future_values": (4, 24), "future_time_features": (4, 24, 2)}  # fmt: skip

BUILDERS = {
    **{name: image(name) for name in _WHOLE.split()},
    "beit_base": image("beit_base_patch16_224", depth=3),
    "deit3_small": image("deit3_small_patch16_224", depth=4),
    "vit_relpos_small": image("vit_relpos_small_patch16_224", depth=4),
    "siglip_base": image("vit_base_patch16_siglip_224", depth=3),
    "hiera_tiny_224": image("hiera_tiny_224", fused=False),
    "nest_tiny_jx": image("nest_tiny_jx", fused=False),
    "naflexvit_base": image("naflexvit_base_patch16_gap", depth=3),
    "vgg11_bn": image("vgg11_bn", mlp_ratio=0.125),
    "mobilenetv2_100_b4": image("mobilenetv2_100", batch=4),
    "repghostnet_050_b4": image("repghostnet_050", batch=4),
    "cspnext_s_b4": image("cspnext_s", batch=4),
    "resnet18_b8": image("resnet18", batch=8),
    # Encoders of text.
    "electra": encoder("Electra"),
    "albert": encoder("Albert", **_BASE),
    "roberta": encoder("Roberta"),
    "bert_b8": encoder("Bert", batch=8, length=64),
    "distilbert": encoder("DistilBert", layers="n_layers"),
    "mpnet": encoder("MPNet"),
    "mobilebert": encoder("MobileBert"),
    "squeezebert": encoder("SqueezeBert"),
    "convbert": encoder("ConvBert"),
    "roformer": encoder("RoFormer"),
    "rembert": encoder("RemBert", vocab_size=30000),
    "fnet": field("FNet", {"input_ids": (1, 128)}, num_hidden_layers=2),
    "esm": encoder("Esm", vocab_size=1000, hidden_size=320, num_attention_heads=20, intermediate_size=1280,
                   position_embedding_type="rotary", pad_token_id=1, mask_token_id=32, token_dropout=False),
    "modernbert": encoder("ModernBert", num_hidden_layers=3),
    "deberta_v2": encoder("DebertaV2", **_BASE, vocab_size=30000, relative_attention=True, position_buckets=256,
                          norm_rel_ebd="layer_norm", share_att_key=True, position_biased_input=False,
                          pos_att_type=["p2c", "c2p"]),
    "xlnet": field("XLNet", {"input_ids": (1, 128)}, n_layer=2, d_model=768, n_head=12, d_inner=3072),
    "funnel": encoder("Funnel", layers="num_decoder_layers", block_sizes=[1, 1, 1]),
    "bigbird": encoder("BigBird", attention_type="original_full"),
    "layoutlmv3": field("LayoutLMv3", {"input_ids": (1, 128), "bbox": (1, 128, 4), **_IMAGE}, num_hidden_layers=2),
    "bart": field("Bart", {"input_ids": (1, 128), "decoder_input_ids": (1, 32)}, encoder_layers=2, decoder_layers=2,
                  d_model=768, encoder_ffn_dim=3072, decoder_ffn_dim=3072, use_cache=False),
    "mt5_encoder": field("MT5", {"input_ids": (1, 128), "attention_mask": (1, 128)}, part="EncoderModel", num_layers=4,
                         vocab_size=8000),
    "xlm": encoder("XLM", layers="n_layers", emb_dim=768, n_heads=12, vocab_size=8000),
    "flaubert": encoder("Flaubert", layers="n_layers", emb_dim=512, n_heads=8, vocab_size=8000),
    "ibert": encoder("IBert", vocab_size=8000),
    "megatron_bert": encoder("MegatronBert", vocab_size=4000),
    "nystromformer": field("Nystromformer", {"hidden_states": (1, 512, 768)}, part="Model.encoder", num_hidden_layers=2,
                           segment_means_seq_len=512),
    "canine": encoder("Canine", length=512, num_hash_buckets=2048, max_position_embeddings=2048),
    "perceiver": field("Perceiver", {"input_ids": (1, 512)}, "logits", "ForMaskedLM", vocab_size=1000,
                       max_position_embeddings=512, num_self_attends_per_block=2),
    # Language models, with their caches.
    **{f"{name}_{way}": causal(kind, *tokens, sizes) for name, (kind, ways, sizes) in _DECODERS.items()
       for way, tokens in (("decode", (128, 1)), ("prefill", (0, 128))) if ways in (way, "both")},
    "mamba": field("Mamba", {"input_ids": (1, 32)}, num_hidden_layers=2, use_cache=False),
    "mamba2": field("Mamba2", {"input_ids": (1, 128)}, num_hidden_layers=2, hidden_size=768, num_heads=24,
                    use_cache=False),
    "deepseek_v3": field("DeepseekV3", {"input_ids": (1, 16)},
                         **dict(_EXPERTS, hidden_size=768, intermediate_size=2048), q_lora_rank=384, kv_lora_rank=256,
                         moe_intermediate_size=384, num_key_value_heads=16, first_k_dense_replace=1,
                         n_routed_experts=8, n_group=4, topk_group=2, num_experts_per_tok=2, vocab_size=4000,
                         use_cache=False),
    "falcon_mamba": field("FalconMamba", {"input_ids": (1, 32)}, num_hidden_layers=2, vocab_size=8000, use_cache=False),
    "rwkv": field("Rwkv", {"input_ids": (1, 32)}, num_hidden_layers=2, hidden_size=768, vocab_size=8000,
                  use_cache=False),
    "recurrent_gemma": field("RecurrentGemma", {"input_ids": (1, 32)}, num_hidden_layers=3, hidden_size=768,
                             intermediate_size=4608, num_attention_heads=4, vocab_size=8000, use_cache=False),
    # Sound.
    "wav2vec2": field("Wav2Vec2", _SOUND, num_hidden_layers=2),
    "hubert": field("Hubert", _SOUND, num_hidden_layers=2),
    "conformer": field("Wav2Vec2Conformer", _SOUND, num_hidden_layers=2, hidden_size=512, num_attention_heads=8,
                       intermediate_size=2048),
    "whisper_encoder": field("Whisper", {"input_features": (1, 80, 3000)}, part="Model.encoder", d_model=384,
                             encoder_layers=4, encoder_attention_heads=6, encoder_ffn_dim=1536),
    "ast": field("AST", {"input_values": (1, 1024, 128)}, num_hidden_layers=2),
    "hifigan": field("SpeechT5HifiGan", {"spectrogram": (100, 80)}, "waveform", ""),
    "dac_decoder": field("Dac", {"codes": (1, 1024, 50)}, "audio", "Model.decoder", decoder_hidden_size=768),
    "mimi_decoder": field("Mimi", {"codes": (1, 512, 50)}, "audio_values", "Model.decoder"),
    "data2vec_audio": field("Data2VecAudio", _SOUND, num_hidden_layers=2),
    "wavlm": field("WavLM", _SOUND, num_hidden_layers=2),
    "sew": field("SEW", _SOUND, num_hidden_layers=2, hidden_size=512, num_attention_heads=8, intermediate_size=2048),
    "speecht5_encoder": field("SpeechT5", _SOUND, part="ForSpeechToText.speecht5.encoder", encoder_layers=2),
    "clap_audio": field("ClapAudio", {"input_features": (1, 1, 1001, 64)}, depths=[2, 2, 2, 2]),
    # Images, and images with text.
    "segformer": field("Segformer", _pixels(512, 512), "logits", "ForSemanticSegmentation"),
    "mobilevitv2_seg": field("MobileViTV2", _pixels(512, 512), "logits", "ForSemanticSegmentation",
                             initializer_range=0.1),
    "mask2former": field("Mask2Former", _pixels(384, 384), "transformer_decoder_last_hidden_state"),
    "detr": field("Detr", _pixels(512, 512), *_DETECTED, use_timm_backbone=False, use_pretrained_backbone=False,
                  backbone=None, backbone_config=lambda t: t.ResNetConfig(out_features=["stage4"])),
    "yolos": field("Yolos", _pixels(512, 864), *_DETECTED, num_hidden_layers=4, hidden_size=192,
                   num_attention_heads=3, intermediate_size=768),
    "rt_detr": field("RTDetr", _pixels(640, 640), *_DETECTED),
    "dpt": field("DPT", _pixels(384, 384), "logits", "ForSemanticSegmentation", num_hidden_layers=4,
                 backbone_out_indices=[0, 1, 2, 3]),
    "glpn": field("GLPN", _pixels(480, 640), "predicted_depth", "ForDepthEstimation"),
    "vitmatte": field("VitMatte", _pixels(512, 512, 4), "alphas", "ForImageMatting", hidden_size=384,
                      fusion_hidden_sizes=[256, 128, 64, 32], convstream_hidden_sizes=[48, 96, 192],
                      backbone_config=lambda t: t.VitDetConfig(
                          num_channels=4, hidden_size=384, num_hidden_layers=4, num_attention_heads=6, image_size=512,
                          use_relative_position_embeddings=True, window_size=14, window_block_indices=[0, 1, 2],
                          residual_block_indices=[3], out_features=["stage4"])),
    "swin2sr": field("Swin2SR", _pixels(64, 64), "reconstruction", "ForImageSuperResolution", depths=[2, 2],
                     num_heads=[6, 6], embed_dim=180, upsampler="pixelshuffle", image_size=64),
    "superpoint": field("SuperPoint", _pixels(480, 640), "keypoints scores descriptors", "ForKeypointDetection",
                        initializer_range=0.06),
    "owlvit": field("OwlViT", {"input_ids": (2, 16), **_pixels(768, 768)}, *_DETECTED,
                    text_config=dict(num_hidden_layers=2, vocab_size=1000), vision_config=dict(num_hidden_layers=2)),
    "blip": field("Blip", {"input_ids": (1, 32), **_IMAGE}, "itm_score", "ForImageTextRetrieval",
                  text_config=dict(num_hidden_layers=2, encoder_hidden_size=768),
                  vision_config=dict(num_hidden_layers=2, image_size=224, initializer_range=0.02)),
    "clipseg": field("CLIPSeg", {"input_ids": (1, 77), **_pixels(352, 352)}, "logits", "ForImageSegmentation",
                     text_config=dict(num_hidden_layers=2, eos_token_id=999), extract_layers=[0, 1, 2],
                     vision_config=dict(num_hidden_layers=3, image_size=352)),
    "videomae": field("VideoMAE", {"pixel_values": (1, 16, 3, 224, 224)}, num_hidden_layers=2, hidden_size=384,
                      num_attention_heads=6, intermediate_size=1536),
    "cvt": field("Cvt", _IMAGE, "logits", "ForImageClassification", depth=[1, 2, 4]),
    "dinov2_registers": field("Dinov2WithRegisters", _IMAGE, **_SMALL, patch_size=14),
    "vit_mae": field("ViTMAE", {**_IMAGE, "noise": (1, 196)}, "logits", "ForPreTraining", num_hidden_layers=2,
                     decoder_num_hidden_layers=2),
    "upernet": field("UperNet", _pixels(512, 512), "logits", "ForSemanticSegmentation", hidden_size=256,
                     use_auxiliary_head=False, backbone_config=lambda t: t.ConvNextConfig(
                         hidden_sizes=[40, 80, 160, 320], depths=[2, 2, 6, 2], **_STAGES)),
    "depth_anything": field("DepthAnything", _pixels(392, 518), "predicted_depth", "ForDepthEstimation",
                            depth_estimation_type="metric", initializer_range=0.1,
                            backbone_config=lambda t: t.Dinov2Config(**_SMALL, **_STAGES, image_size=518, patch_size=14,
                                                                     reshape_hidden_states=False)),
    "conditional_detr": field("ConditionalDetr", _pixels(512, 512), *_DETECTED, **_LIGHT_DETR),
    "table_transformer": field("TableTransformer", _pixels(512, 672), *_DETECTED, **_LIGHT_DETR),
    "maskformer": field("MaskFormer", _pixels(384, 384),
                        "pixel_decoder_last_hidden_state transformer_decoder_last_hidden_state",
                        decoder_config=dict(model_type="detr", decoder_layers=2),
                        backbone_config=lambda t: t.SwinConfig(depths=[2, 2, 2, 2], **_STAGES)),
    "sam_vision": field("SamVision", _pixels(512, 512), num_hidden_layers=3, image_size=512, global_attn_indexes=[2]),
    "timesformer": field("Timesformer", {"pixel_values": (1, 8, 3, 224, 224)}, **_SMALL, intermediate_size=1536),
    "vivit": field("Vivit", {"pixel_values": (1, 8, 3, 224, 224)}, **_SMALL, intermediate_size=1536, num_frames=8),
    "donut_swin": field("DonutSwin", _pixels(640, 480), image_size=[640, 480], depths=[2, 2, 2, 2], window_size=10),
    # Values over time.
    "patchtst": field("PatchTST", {"past_values": (8, 512, 7)}, "prediction_outputs", "ForPrediction",
                      num_input_channels=7, context_length=512, patch_length=16, patch_stride=8, prediction_length=96),
    "patchtsmixer": field("PatchTSMixer", {"past_values": (8, 512, 7)}, "prediction_outputs", "ForPrediction",
                          num_input_channels=7, context_length=512, d_model=48, num_layers=8, prediction_length=96),
    "autoformer_layer": field("Autoformer", {"hidden_states": (1, 96, 512)}, part="Model.encoder.layers.0",
                              context_length=96, prediction_length=24, encoder_layers=1, decoder_layers=1, d_model=512,
                              encoder_attention_heads=8, encoder_ffn_dim=2048),
    "informer": field("Informer", _TIMES, attention_type="full", distil=False, lags_sequence=[1, 2, 3, 4, 5, 6, 7],
                      context_length=96, prediction_length=24, num_time_features=2, encoder_ffn_dim=256,
                      decoder_ffn_dim=256, encoder_layers=3),
    "decision_transformer": field("DecisionTransformer", {
        "states": (1, 20, 17), "actions": (1, 20, 4), "returns_to_go": (1, 20, 1), "timesteps": (1, 20),
        "attention_mask": (1, 20)}, "state_preds action_preds return_preds"),
    # Diffusion.
    "vae_decoder": field("AutoencoderKL", {"latents": (1, 4, 32, 32)}, "image", ".decoder", "diffusers",
                         block_out_channels=(64, 128, 256), down_block_types=("DownEncoderBlock2D",) * 3,
                         up_block_types=("UpDecoderBlock2D",) * 3, layers_per_block=1, latent_channels=4),
    "unet_condition": field("UNet2DConditionModel", {"sample": (1, 4, 32, 32), "timestep": (1,),
                                                     "encoder_hidden_states": (1, 77, 768)},
                            "sample", library="diffusers", block_out_channels=(128, 256, 512, 512),
                            layers_per_block=1, cross_attention_dim=768),
    "dit": field("DiTTransformer2DModel", {"hidden_states": (1, 4, 32, 32), "timestep": (1,), "class_labels": (1,)},
                 "sample", library="diffusers", num_layers=2, num_attention_heads=16, attention_head_dim=72),
    # By hand.
    "unet2d": by_hand(partial(UNet, nn.Conv2d, nn.ConvTranspose2d, nn.BatchNorm2d, nn.MaxPool2d, 3,
                              (32, 64, 128, 256), 2), input=(1, 3, 256, 256)),
    "unet3d": by_hand(partial(UNet, nn.Conv3d, nn.ConvTranspose3d, partial(nn.InstanceNorm3d, affine=True),
                              nn.MaxPool3d, 1, (16, 32, 64, 128), 3), input=(1, 1, 64, 64, 64)),
    "stgcn": by_hand(_graph_network, input=(1, 3, 300, 25)),
    "tcn": by_hand(partial(Causal, 64, [2**i for i in range(8)], 10, False), input=(1, 1, 1024)),
    "wavenet": by_hand(partial(Causal, 64, [2**i for i in range(10)] * 3, 256, True), input=(1, 1, 8000)),
    "aspp": by_hand(partial(DeepLabHead, 960, 21), input=(1, 960, 33, 33)),
    "dlrm": by_hand(Recommender, dense=(128, 13), ids=(128, 26)),
    "deepar_1": by_hand(DeepAR, "mean deviation h c", input=(1, 1, 6), hidden=(1, 1, 40), cell=(1, 1, 40)),
    "deepar_200": by_hand(DeepAR, "mean deviation h c", input=(1, 200, 6), hidden=(1, 1, 40), cell=(1, 1, 40)),
    "nbeats": by_hand(NBeats, input=(1, 60)),
    "pointnet2": by_hand(PointNet, input=(1, 1024, 3)),
    "espcn": by_hand(_small_super_resolution, input=(1, 1, 224, 224)),
    "srresnet": by_hand(_super_resolution, input=(1, 3, 96, 96)),
    "dcgan": by_hand(_dcgan, input=(1, 100, 1, 1)),
    "cyclegan": by_hand(_cyclegan, input=(1, 3, 256, 256)),
    "conv_tasnet": by_hand(Separator, input=(1, 1, 16000)),
    "deepspeech2": by_hand(Speech, input=(1, 1, 161, 200)),
    "waveglow": by_hand(Coupling, input=(1, 8, 1000), spectrogram=(1, 640, 1000)),
    "nerf": by_hand(Radiance, points=(256, 64, 3), directions=(256, 64, 3)),
    "gat": by_hand(GraphClassifier, input=(1000, 1433), edges=(1000, 1000)),
    "unet1d": by_hand(partial(UNet, nn.Conv1d, nn.ConvTranspose1d, nn.BatchNorm1d, nn.MaxPool1d, 12,
                              (32, 64, 128, 256), 4), input=(1, 12, 4096)),
    "autoencoder3d": by_hand(_autoencoder, input=(1, 1, 64, 64, 64)),
    "edsr": by_hand(_edsr, input=(1, 3, 96, 96)),
    "rcan": by_hand(_rcan, input=(1, 3, 96, 96)),
    "style": by_hand(_style, input=(1, 3, 256, 256)),
    "deepfm": by_hand(partial(Clicks, 0), ids=(256, 26)),
    "dcn": by_hand(partial(Clicks, 3), ids=(256, 26)),
    "translator": by_hand(Translator, input_ids=(1, 40), target_ids=(1, 40)),
    "kan": by_hand(lambda: nn.Sequential(Splines(64, 128), Splines(128, 128), Splines(128, 10)), input=(256, 64)),
    "crnn": by_hand(Text, input=(1, 1, 32, 320)),
    "yolo": by_hand(Detector, input=(1, 3, 640, 640)),
    # torchvision.
    "resnext50": by_hand(seen("resnext50_32x4d"), input=(1, 3, 224, 224)),
    "fcn_resnet50": by_hand(seen("fcn_resnet50", lambda m, x: m(x)["out"], weights_backbone=None),
                            input=(1, 3, 256, 256)),
    "fcos": by_hand(seen("fcos_resnet50_fpn", _found, weights_backbone=None), "logits boxes centers",
                    input=(1, 3, 512, 512)),
    "retinanet": by_hand(seen("retinanet_resnet50_fpn", _found, weights_backbone=None), "logits boxes",
                         input=(1, 3, 384, 384)),
    "raft_small": by_hand(seen("raft_small", lambda m, *x: m(*x, num_flow_updates=4)[-1]),
                          first=(1, 3, 256, 320), second=(1, 3, 256, 320)),
    **{name: by_hand(seen(name), input=(1, 3, 16, 112, 112)) for name in ("r3d_18", "r2plus1d_18")},
    "s3d": by_hand(seen("s3d"), input=(1, 3, 16, 224, 224)),
    "mvit_v2_s": by_hand(seen("mvit_v2_s"), input=(1, 3, 16, 224, 224)),
    "swin3d_t": by_hand(seen("swin3d_t"), input=(1, 3, 16, 224, 224)),
}  # fmt: skip

_SYMBOLIC = {
    "dynb": "mobilenetv2_100 resnet18 regnety_008 vit_small_patch16_224 levit_128 repghostnet_050 iformer_s kan",
    "dynhw": "mobilenetv2_100 unet2d espcn segformer edsr style lcnetv2_small",
    "dynseq": """albert roberta modernbert deepar_200 gpt_neox_prefill phi_prefill gpt_neox_decode
                 gemma3_decode opt_decode llama_gqa_prefill llama_gqa_decode gpt_bigcode_decode mt5_encoder""",
}
_DIMENSIONS = {"dynb": {0: "batch"}, "dynhw": {2: "height", 3: "width"}, "dynseq": {1: "seq"}}
_PAST = {f"past.{layer}.{part}": {2: "past"} for layer in range(4) for part in ("key", "value")}


def _axes(name, suffix):
    if name.endswith("_decode"):
        return {"attention_mask": {1: "total"}, **_PAST}
    data = ("input", "pixel_values", "input_ids", "attention_mask", "position_ids")
    return dict.fromkeys(data, _DIMENSIONS[suffix])


NETWORKS = {name: (build, 18, None, None) for name, build in BUILDERS.items()}
for _suffix, _names in _SYMBOLIC.items():
    for _name in _names.split():
        NETWORKS[f"{_name}_{_suffix}"] = (BUILDERS[_name], 18, None, _axes(_name, _suffix))


if __name__ == "__main__":
    export_models.main(NETWORKS, __doc__, __file__)
