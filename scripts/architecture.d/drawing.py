"""The drawing of the targets and their folders: for scripts/architecture."""
import collections


def graph(pairs, nodes):
  edges = {node: set() for node in nodes}
  for one, other in pairs:
    if one in edges and other in edges and one != other:
      edges[one].add(other)
  return edges


def levels(nodes, edges):
  """The nodes in rows: each uses nodes of lower rows only, but for cycles."""
  level = {}

  def visit(node, path):
    if node not in level:
      below = [visit(other, path | {node}) for other in edges[node] if other not in path]
      level[node] = 1 + max(below, default=-1)
    return level[node]

  for node in sorted(nodes):
    visit(node, set())
  rows = collections.defaultdict(list)
  for node in sorted(nodes):
    rows[level[node]].append(node)
  return [rows[row] for row in sorted(rows)]


def drawing(files, pairs):
  """An SVG: a box for each target, users above what they use; in it its folders, in rows of the same kind."""
  targets = sorted({file.target for file in files})
  target_edges = graph({(a.split("/")[0], b.split("/")[0]) for a, b in pairs}, targets)
  style = """<style>
    text { font: 13px system-ui, sans-serif; fill: #1f2328 } .target { font-weight: 600; font-size: 14px }
    .box { fill: #f6f8fa; stroke: #8c959f } .folder { fill: #ffffff; stroke: #8c959f } line { stroke: #8c959f; stroke-opacity: 0.6 }
    @media (prefers-color-scheme: dark) {
      text { fill: #e6edf3 } .box { fill: #161b22; stroke: #6e7681 } .folder { fill: #0d1117; stroke: #6e7681 } line { stroke: #6e7681 }
    }
  </style>"""
  boxes, y, width = [], 10, 0
  for row in reversed(levels(targets, target_edges)):
    x, height = 10, 0
    for target in row:
      folders = sorted({file.folder for file in files if file.target == target} - {target})
      inner = levels(folders, graph(pairs, folders)) if folders else []
      sizes = [sum(len(folder.split("/")[1]) * 8 + 28 for folder in line) for line in inner]
      wide = max([len(target) * 9 + 24] + [size + 12 for size in sizes])
      tall = 34 + 40 * len(inner)
      boxes.append((target, x, y, wide, tall, inner))
      x += wide + 30
      height = max(height, tall)
    width = max(width, x)
    y += height + 40
  place = {target: (x, y, wide, tall) for target, x, y, wide, tall, _ in boxes}
  parts = []
  for one in targets:
    for other in sorted(target_edges[one]):
      # What another use leads to as well is left out.
      if not any(other in target_edges[third] for third in target_edges[one] - {other}):
        a, b = place[one], place[other]
        parts.append(f'<line x1="{a[0] + a[2] / 2}" y1="{a[1] + a[3]}" x2="{b[0] + b[2] / 2}" y2="{b[1]}"/>')
  for target, x, top, wide, tall, inner in boxes:
    parts.append(f'<rect class="box" x="{x}" y="{top}" width="{wide}" height="{tall}" rx="6"/>')
    parts.append(f'<text class="target" x="{x + 12}" y="{top + 22}">{target}</text>')
    for index, line in enumerate(reversed(inner)):
      left = x + 8
      for folder in line:
        name = folder.split("/")[1]
        size = len(name) * 8 + 20
        parts.append(f'<rect class="folder" x="{left}" y="{top + 32 + 40 * index}" width="{size}" height="30" rx="4"/>')
        parts.append(f'<text x="{left + 10}" y="{top + 52 + 40 * index}">{name}</text>')
        left += size + 8
  head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {y - 20}" width="{width}" height="{y - 20}">'
  return "\n".join([head, style, *parts, "</svg>", ""])
