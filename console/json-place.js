/**
 * Finds the place of a fault, such as `requests.lookup[0].config.url`, in the text of a document.
 *
 * The names of a document may hold dots and brackets themselves (`inputMapping.requestBody\.items[0]\.code` is one
 * member of `inputMapping`), so a path cannot be split by itself: it is walked along the text, which knows its names.
 *
 * @typedef {import('./json-text.js').JsonNode} JsonNode
 */

/**
 * Where the path's value stands, as a range to select: the value itself where it is a simple one, else its name.
 * A place that the document does not have, such as a field left out, gives the nearest one around it.
 *
 * @param {JsonNode} root
 * @param {string} path names joined by dots (dots within a name escaped), elements as `[n]`; empty for the document
 * @returns {{ start: number, end: number }}
 */
export function findPlace(root, path) {
  const { node, member } = walk({ node: root, member: undefined, rest: path })
  if (node.kind === 'scalar') return { start: node.start, end: node.end }
  if (member !== undefined) return { start: member.start, end: member.end }
  return { start: node.start, end: node.start + 1 }
}

/** Follows a path as far as the text goes: the way that leaves the least of it wins. */
function walk(place) {
  if (place.rest === '') return place
  return nextPlaces(place).reduce((best, next) => {
    if (best.rest === '') return best
    const end = walk(next)
    return end.rest.length < best.rest.length ? end : best
  }, place)
}

function nextPlaces({ node, member, rest }) {
  if (node.kind === 'object') {
    const inside = node.members.flatMap((one) => {
      const left = leave(rest, one.name.replaceAll('.', '\\.'))
      return left === undefined ? [] : [{ node: one.value, member: one, rest: left }]
    })
    // Of a name that stands twice the last one counts; of names that both fit, the one that says more of the path.
    if (inside.length > 0) return inside.reverse().sort((one, other) => one.rest.length - other.rest.length)
  }
  const index = /^\[(\d+)\]/.exec(rest)
  if (index === null) return []
  const left = leave(rest, index[0])
  if (left === undefined) return []
  // A single request may stand without its array: its fields are those of element 0.
  if (node.kind === 'object' && index[1] === '0') return [{ node, member, rest: left }]
  const item = node.kind === 'array' ? node.items[Number(index[1])] : undefined
  return item === undefined ? [] : [{ node: item, member: undefined, rest: left }]
}

/** The rest of a path after one of its steps; undefined if the path does not start with that step. */
function leave(path, step) {
  if (!path.startsWith(step)) return undefined
  const left = path.slice(step.length)
  if (left.startsWith('.')) return left.slice(1)
  return left === '' || left.startsWith('[') ? left : undefined
}
