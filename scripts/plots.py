# SPDX-License-Identifier: Apache-2.0
"""Plots of measured curves as SVG, for the scripts that draw figures into docs/images."""

WIDTH, HEIGHT, LEFT, BOTTOM = 560, 360, 70, 50


def draw(path, names, title, x_label, y_label, curves, x_of, y_of, x_ticks, y_ticks, notes):
    """Curves in the units of the ticks, which are (place, label); `names` has (name, colour) for each key of `curves`."""
    xs, ys = [t[0] for t in x_ticks], [t[0] for t in y_ticks]
    px = lambda x: LEFT + (x - xs[0]) / (xs[-1] - xs[0]) * (WIDTH - LEFT - 20)
    py = lambda y: HEIGHT - BOTTOM - (y - ys[0]) / (ys[-1] - ys[0]) * (HEIGHT - BOTTOM - 40)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>', f'<text x="{WIDTH / 2}" y="20" text-anchor="middle" font-size="14">{title}</text>']
    for place, label in x_ticks:
        out.append(f'<line x1="{px(place):.1f}" x2="{px(place):.1f}" y1="40" y2="{HEIGHT - BOTTOM}" stroke="#ddd"/>'
                   f'<text x="{px(place):.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{label}</text>')
    for place, label in y_ticks:
        out.append(f'<line x1="{LEFT}" x2="{WIDTH - 20}" y1="{py(place):.1f}" y2="{py(place):.1f}" stroke="#ddd"/>'
                   f'<text x="{LEFT - 6}" y="{py(place) + 4:.1f}" text-anchor="end">{label}</text>')
    out.append(f'<text x="{WIDTH / 2}" y="{HEIGHT - 12}" text-anchor="middle">{x_label}</text>'
               f'<text x="16" y="{HEIGHT / 2}" text-anchor="middle" transform="rotate(-90 16 {HEIGHT / 2})">{y_label}</text>')
    for k, (scheme, points) in enumerate(sorted(curves.items())):
        name, colour = names[scheme]
        places = [(px(x_of(x)), py(y_of(y))) for x, y in points]
        out.append(f'<polyline fill="none" stroke="{colour}" stroke-width="2" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in places)}"/>')
        if len(places) < 10:
            out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"/>' for x, y in places]
        out.append(f'<text x="{LEFT + 12}" y="{58 + 16 * k}" fill="{colour}">{name}{notes(points)}</text>')
    path.write_text("\n".join(out) + "\n</svg>\n")
