"""PyTorch learns to tell crosses from squares, forward and backward on Gingham."""

import torch
from torch import nn

torch.manual_seed(0)
cross, square = torch.zeros(2, 1, 8, 8)
cross[0, range(8), range(8)] = cross[0, range(8), range(7, -1, -1)] = 1
square[0, [0, -1]] = square[0, :, [0, -1]] = 1
kinds = torch.randint(0, 2, (64,))
images = torch.stack([cross, square])[kinds] + torch.randn(64, 1, 8, 8) / 2

model = nn.Sequential(
    nn.Conv2d(1, 4, 3),
    nn.BatchNorm2d(4),
    nn.ReLU(),
    nn.MaxPool2d(2),
    nn.Dropout(0.25),
    nn.Flatten(),
    nn.Linear(36, 2),
)
fast = torch.compile(model, backend="gingham")

optimizer = torch.optim.Adam(model.parameters(), 0.01)
for _ in range(30):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(fast(images), kinds)
    loss.backward()
    optimizer.step()

model.eval()
with torch.no_grad():
    right = fast(images).argmax(1) == kinds
print(f"{right.float().mean():.0%} are told apart")
