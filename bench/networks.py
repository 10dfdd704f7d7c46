"""Networks by hand that bench/families.py exports: modules of PyTorch with random weights."""

from functools import partial

import torch
from torch import nn
from torch.nn import functional as F


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


def kan():
    return nn.Sequential(Splines(64, 128), Splines(128, 128), Splines(128, 10))


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


def graph_network():
    steps = [(3, 64), (64, 64), (64, 64), (64, 64), (64, 128, 2), (128, 128), (128, 128), (128, 256, 2), (256, 256)]
    return nn.Sequential(*(GraphStep(*s) for s in steps), nn.AdaptiveAvgPool2d(1), nn.Conv2d(256, 60, 1), nn.Flatten())


def super_resolution():
    step = (64, 64, 3, 1, 1)
    body = [Residual(*_run(nn.Conv2d, nn.BatchNorm2d, nn.PReLU, step, step)[:-1]) for _ in range(16)]
    grow = [layer for _ in range(2) for layer in (nn.Conv2d(64, 256, 3, 1, 1), nn.PixelShuffle(2), nn.PReLU())]
    return nn.Sequential(nn.Conv2d(3, 64, 9, 1, 4), nn.PReLU(), Residual(*body), *grow, nn.Conv2d(64, 3, 9, 1, 4))


def small_super_resolution():
    return nn.Sequential(nn.Conv2d(1, 64, 5, 1, 2), nn.Tanh(), nn.Conv2d(64, 32, 3, 1, 1), nn.Tanh(),
                         nn.Conv2d(32, 9, 3, 1, 1), nn.PixelShuffle(3))  # fmt: skip


def dcgan():
    steps = [(100, 512, 4), (512, 256, 4, 2, 1), (256, 128, 4, 2, 1), (128, 64, 4, 2, 1)]
    return nn.Sequential(*_run(nn.ConvTranspose2d, nn.BatchNorm2d, nn.ReLU, *steps),
                         nn.ConvTranspose2d(64, 3, 4, 2, 1), nn.Tanh())  # fmt: skip


def cyclegan():
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


def edsr():
    return _upscaler(*(Residual(*_pair()) for _ in range(16)))


def rcan():
    return _upscaler(*(Residual(*(Residual(*_pair(), ChannelAttention(64)) for _ in range(6)),
                                nn.Conv2d(64, 64, 3, 1, 1)) for _ in range(4)))  # fmt: skip


def style():
    conv, norm = partial(nn.Conv2d, padding_mode="reflect"), partial(nn.InstanceNorm2d, affine=True)
    step = (128, 128, 3, 1, 1)
    return nn.Sequential(
        *_run(conv, norm, nn.ReLU, (3, 32, 9, 1, 4), (32, 64, 3, 2, 1), (64, 128, 3, 2, 1)),
        *(Residual(*_run(conv, norm, nn.ReLU, step, step)[:-1]) for _ in range(5)),
        nn.Upsample(scale_factor=2), *_run(conv, norm, nn.ReLU, (128, 64, 3, 1, 1)),
        nn.Upsample(scale_factor=2), *_run(conv, norm, nn.ReLU, (64, 32, 3, 1, 1)), conv(32, 3, 9, 1, 4))  # fmt: skip


def autoencoder():
    down, up = ((1, 32, 3, 2, 1), (32, 64, 3, 2, 1), (64, 128, 3, 2, 1)), ((128, 64, 4, 2, 1), (64, 32, 4, 2, 1))
    return nn.Sequential(*_run(nn.Conv3d, nn.BatchNorm3d, nn.LeakyReLU, *down),
                         *_run(nn.ConvTranspose3d, nn.BatchNorm3d, nn.LeakyReLU, *up),
                         nn.ConvTranspose3d(32, 1, 4, 2, 1), nn.Sigmoid())  # fmt: skip


def _block(a, b, kernel=3, stride=1, act=nn.ReLU, dilation=1):
    return _run(nn.Conv2d, nn.BatchNorm2d, act, (a, b, kernel, stride, dilation * (kernel // 2), dilation))


def _lines(a, b):
    """ERFNet's pair of a column and a row, with a dilation of b."""
    return [nn.Conv2d(a, a, (3, 1), 1, (b, 0), (b, 1)), nn.ReLU(), nn.Conv2d(a, a, (1, 3), 1, (0, b), (1, b)),
            nn.BatchNorm2d(a)]  # fmt: skip


class Shrink(nn.Module):
    """Half the pixels by a convolution and by a maximum, side by side."""

    def __init__(self, a, b):
        super().__init__()
        self.conv, self.norm = nn.Conv2d(a, b - a, 3, 2, 1), nn.BatchNorm2d(b)

    def forward(self, x):
        return F.relu(self.norm(torch.cat([self.conv(x), F.max_pool2d(x, 2)], 1)))


def erfnet():
    def steps(channels, *dilations):
        return [layer for d in dilations
                for layer in (Residual(*_lines(channels, 1), nn.ReLU(), *_lines(channels, d)), nn.ReLU())]  # fmt: skip

    def grow(a, b):
        return _run(nn.ConvTranspose2d, nn.BatchNorm2d, nn.ReLU, (a, b, 3, 2, 1, 1))

    return nn.Sequential(
        Shrink(3, 16), Shrink(16, 64), *steps(64, 1, 1, 1, 1, 1), Shrink(64, 128), *steps(128, *(2, 4, 8, 16) * 2),
        *grow(128, 64), *steps(64, 1, 1), *grow(64, 16), *steps(16, 1, 1),
        nn.ConvTranspose2d(16, 20, 2, 2))  # fmt: skip


class FastSpeech(nn.Module):
    """Its transformer with convolutions over time, and the network behind the spectrogram of Tacotron 2."""

    def __init__(self, width=384, inner=1536, layers=4):
        super().__init__()
        self.attention = nn.ModuleList(nn.MultiheadAttention(width, 2, batch_first=True) for _ in range(layers))
        self.inner = nn.ModuleList(
            nn.Sequential(nn.Conv1d(width, inner, 3, 1, 1), nn.ReLU(), nn.Conv1d(inner, width, 3, 1, 1))
            for _ in range(layers)
        )
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2 * layers))
        steps = _run(nn.Conv1d, nn.BatchNorm1d, nn.Tanh, *((a, 256, 5, 1, 2) for a in (80, 256, 256)))
        self.spectrum, self.behind = nn.Linear(width, 80), nn.Sequential(*steps, nn.Conv1d(256, 80, 5, 1, 2))

    def forward(self, x):
        for number, (attention, inner) in enumerate(zip(self.attention, self.inner)):
            x = self.norms[2 * number](x + attention(x, x, x, need_weights=False)[0])
            x = self.norms[2 * number + 1](x + inner(x.transpose(1, 2)).transpose(1, 2))
        y = self.spectrum(x)
        return y + self.behind(y.transpose(1, 2)).transpose(1, 2)


class Spleeter(nn.Module):
    """A U-Net of 5x5 convolutions and transposed ones, both of stride two."""

    def __init__(self, widths=(2, 16, 32, 64, 128, 256, 512)):
        super().__init__()
        self.down = nn.ModuleList(nn.Conv2d(a, b, 5, 2, 2) for a, b in zip(widths, widths[1:]))
        self.norms = nn.ModuleList(nn.BatchNorm2d(b) for b in widths[1:])
        below = [widths[-1], *(2 * width for width in widths[-2:0:-1])]
        steps = [(a, b, 5, 2, 2, 1) for a, b in zip(below, [*widths[-2:0:-1], 1])]
        self.up = nn.ModuleList(nn.Sequential(*_run(nn.ConvTranspose2d, nn.BatchNorm2d, nn.ReLU, s)) for s in steps)
        self.mask = nn.Conv2d(1, 2, 4, padding=3, dilation=2)

    def forward(self, x):
        kept, y = [], x
        for conv, norm in zip(self.down, self.norms):
            kept.append(conv(y))
            y = F.leaky_relu(norm(kept[-1]), 0.2)
        y = kept.pop()
        for up in self.up:
            y = up(y)
            y = torch.cat([kept.pop(), y], 1) if kept else y
        return self.mask(y).sigmoid() * x


class Dense(nn.Module):
    """ESRGAN's: five convolutions, each of all that was before."""

    def __init__(self, width=64, growth=32):
        super().__init__()
        sizes = [growth] * 4 + [width]
        self.convs = nn.ModuleList(nn.Conv2d(width + i * growth, b, 3, 1, 1) for i, b in enumerate(sizes))

    def forward(self, x):
        known = [x]
        for conv in self.convs[:-1]:
            known.append(F.leaky_relu(conv(torch.cat(known, 1)), 0.2))
        return x + 0.2 * self.convs[-1](torch.cat(known, 1))


def esrgan():
    grow = [layer for _ in range(2)
            for layer in (nn.Upsample(scale_factor=2), nn.Conv2d(64, 64, 3, 1, 1), nn.LeakyReLU(0.2))]  # fmt: skip
    body = Residual(*(Residual(*(Dense() for _ in range(3))) for _ in range(3)), nn.Conv2d(64, 64, 3, 1, 1))
    return nn.Sequential(nn.Conv2d(3, 64, 3, 1, 1), body, *grow, nn.Conv2d(64, 64, 3, 1, 1), nn.LeakyReLU(0.2),
                         nn.Conv2d(64, 3, 3, 1, 1))  # fmt: skip


class Poses(nn.Module):
    """OpenPose's stages of 7x7 convolutions, behind features of 128 channels."""

    def __init__(self, stages=2, outputs=57):
        super().__init__()
        first = (128 + outputs, *[128] * 4)
        self.stages = nn.ModuleList(
            nn.Sequential(*(layer for a in first for layer in (nn.Conv2d(a, 128, 7, 1, 3), nn.ReLU())),
                          nn.Conv2d(128, 128, 1), nn.ReLU(), nn.Conv2d(128, outputs, 1)) for _ in range(stages)
        )  # fmt: skip
        self.first = nn.Conv2d(128, outputs, 1)

    def forward(self, x):
        found = self.first(x)
        for stage in self.stages:
            found = stage(torch.cat([x, found], 1))
        return found


class Go(nn.Module):
    """KataGo's nested residual blocks on a board, and its two heads."""

    def __init__(self, width=256, blocks=4, planes=22):
        super().__init__()
        half = width // 2

        def step(a, b, kernel):
            return [nn.BatchNorm2d(a), nn.Mish(), nn.Conv2d(a, b, kernel, 1, kernel // 2, bias=False)]

        def block():
            inner = (Residual(*step(half, half, 3), *step(half, half, 3)) for _ in range(2))
            return Residual(*step(width, half, 1), *inner, *step(half, width, 1))

        first = nn.Conv2d(planes, width, 3, 1, 1)
        self.trunk = nn.Sequential(first, *(block() for _ in range(blocks)), nn.BatchNorm2d(width), nn.Mish())
        self.policy, self.value = nn.Conv2d(width, 2, 1), nn.Linear(2 * width, 3)

    def forward(self, x):
        x = self.trunk(x)
        return self.policy(x).flatten(2), self.value(torch.cat([x.mean((2, 3)), x.amax((2, 3))], 1))


class Faces(nn.Module):
    """ArcFace's residual network, with a slope for each channel."""

    def __init__(self):
        super().__init__()
        layers, a = [*_run(nn.Conv2d, nn.BatchNorm2d, lambda: nn.PReLU(64), (3, 64, 3, 1, 1))], 64
        for b in (64, 128, 256, 512):
            for stride in (2, 1):
                layers.append(self.Block(a, b, stride))
                a = b
        self.layers = nn.Sequential(*layers, nn.BatchNorm2d(512), nn.Flatten(), nn.Linear(512 * 49, 512))

    class Block(nn.Module):
        def __init__(self, a, b, stride):
            super().__init__()
            self.body = nn.Sequential(nn.BatchNorm2d(a), nn.Conv2d(a, b, 3, 1, 1), nn.BatchNorm2d(b), nn.PReLU(b),
                                      nn.Conv2d(b, b, 3, stride, 1), nn.BatchNorm2d(b))  # fmt: skip
            self.short = nn.Identity() if stride == 1 else nn.Sequential(*_run(
                nn.Conv2d, nn.BatchNorm2d, nn.Identity, (a, b, 1, stride)))  # fmt: skip

        def forward(self, x):
            return self.body(x) + self.short(x)

    def forward(self, x):
        return self.layers(x)
