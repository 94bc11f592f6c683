"""The table as a picture: one bar per row, drawn against its goal, so that a look says which goal is missed and by how much."""
from html import escape

WIDTH, LEFT, ROW, BAR = 1080, 470, 34, 18
MET, MISSED, GOAL, TEXT, FAINT = "#2e7d32", "#c62828", "#37474f", "#212121", "#78909c"


def svg(rows, title):
    height = 70 + ROW * len(rows)
    scale = (WIDTH - LEFT - 130) / 1.6  # a bar ends at 1.6 times its goal at most
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
           'font-family="sans-serif" font-size="13">',
           f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
           f'<text x="16" y="26" font-size="16" fill="{TEXT}">{escape(title)}</text>',
           f'<text x="16" y="44" fill="{FAINT}">shorter is better; the line is the goal</text>']
    for number, row in enumerate(rows):
        top = 60 + ROW * number
        share = min(row["value"] / row["goal"], 1.6) if row["goal"] else 0
        colour = MET if row["met"] else MISSED
        out.append(f'<text x="16" y="{top + 9}" fill="{TEXT}">{escape(row["what"])}</text>')
        out.append(f'<text x="16" y="{top + 23}" font-size="11" fill="{FAINT}">{escape(row["against"])}</text>')
        out.append(f'<rect x="{LEFT}" y="{top}" width="{max(share * scale, 1):.1f}" height="{BAR}" rx="2" fill="{colour}"/>')
        out.append(f'<text x="{LEFT + max(share * scale, 1) + 8:.1f}" y="{top + 14}" fill="{colour}">{row["value"]:.3g} {escape(row["unit"])}</text>')
    line = LEFT + scale
    out.append(f'<line x1="{line:.1f}" y1="52" x2="{line:.1f}" y2="{height - 12}" stroke="{GOAL}" stroke-dasharray="4 3"/>')
    out.append("</svg>")
    return "\n".join(out) + "\n"
