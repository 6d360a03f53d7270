/** The page's elements. Text goes in as text and never as HTML, whatever a document holds. */

export function byId(id) {
  const found = document.getElementById(id)
  if (found === null) throw new Error(`The page has no element "${id}"`)
  return found
}

/** @param {Record<string, string>} attributes */
export function element(name, attributes, ...children) {
  const made = document.createElement(name)
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value)
  made.append(...children)
  return made
}

const MOMENT = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })

/** A moment in the reader's own time; the exact one on hovering. */
export function moment(iso) {
  const date = new Date(iso)
  const shown = Number.isNaN(date.getTime()) ? String(iso) : MOMENT.format(date)
  return element('time', { datetime: iso, title: iso }, shown)
}
