"""What a view of a panorama must look like, computed another way than the viewer's: for each pixel by numpy.

A ray through a pixel is turned by matrices, becomes a longitude and a latitude, and these a place in the picture, where
four pixels are mixed.
"""

import numpy


class Panorama:
    """A picture (height, width, 3) that covers a part of the sphere or of a cylinder; angles in degrees."""

    def __init__(self, pixels, kind, hfov=360.0, vfov=180.0, yaw=0.0, pitch=0.0):
        self.pixels = numpy.asarray(pixels, dtype=numpy.float64)
        self.kind, self.hfov, self.vfov, self.yaw, self.pitch = kind, hfov, vfov, yaw, pitch

    def view(self, yaw, pitch, fov, width, height):
        """A rectilinear view, whose `fov` is that of the longer side, and which of its pixels are in the picture."""
        focal = max(width, height) / 2 / numpy.tan(numpy.radians(fov) / 2)
        x, y = numpy.meshgrid(numpy.arange(width) + 0.5 - width / 2, height / 2 - numpy.arange(height) - 0.5)
        rays = numpy.stack([x, y, numpy.full_like(x, focal)], axis=-1)
        rays /= numpy.linalg.norm(rays, axis=-1, keepdims=True)
        rays = rays @ turned_up(pitch).T @ turned_right(yaw).T
        longitude = numpy.degrees(numpy.arctan2(rays[..., 0], rays[..., 2]))
        latitude = numpy.arcsin(numpy.clip(rays[..., 1], -1, 1))
        across = ((longitude - self.yaw + self.hfov / 2) % 360) / self.hfov
        if self.kind == "cylinder":
            # The picture is wound around a cylinder of radius 1: its height there is its field of view in radians.
            above = numpy.tan(latitude)
        else:
            above = latitude
        down = 0.5 - (above - numpy.radians(self.pitch)) / numpy.radians(self.vfov)
        inside = (across <= 1) & (down >= 0) & (down <= 1)
        return numpy.where(inside[..., None], self.mixed(across, down), 17.0), inside

    def mixed(self, across, down):
        """The picture at places between its pixels; it closes around where it covers the whole round."""
        height, width, _ = self.pixels.shape
        x, y = across * width - 0.5, down * height - 0.5
        left, top = numpy.floor(x).astype(int), numpy.floor(y).astype(int)
        right_share, low_share = (x - left)[..., None], (y - top)[..., None]

        def column(index):
            return index % width if self.hfov >= 360 else numpy.clip(index, 0, width - 1)

        def row(index):
            return numpy.clip(index, 0, height - 1)

        def at(y, x):
            return self.pixels[row(y), column(x)]

        upper = at(top, left) * (1 - right_share) + at(top, left + 1) * right_share
        lower = at(top + 1, left) * (1 - right_share) + at(top + 1, left + 1) * right_share
        return upper * (1 - low_share) + lower * low_share


def turned_up(degrees):
    sine, cosine = numpy.sin(numpy.radians(degrees)), numpy.cos(numpy.radians(degrees))
    return numpy.array([[1, 0, 0], [0, cosine, sine], [0, -sine, cosine]])


def turned_right(degrees):
    sine, cosine = numpy.sin(numpy.radians(degrees)), numpy.cos(numpy.radians(degrees))
    return numpy.array([[cosine, 0, sine], [0, 1, 0], [-sine, 0, cosine]])
