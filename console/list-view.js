/** The list of endpoints, with a filter. */
import { byId, element, moment } from './elements.js'

export function createListView(api) {
  let documents = []
  let notInForce = []
  const show = () => render(documents, notInForce, byId('filter').value)
  byId('filter').addEventListener('input', show)

  return {
    /** Reads the list anew; `said` is the result of what led here. */
    open: async (said = '') => {
      byId('list-result').textContent = said
      const [list, health] = await Promise.all([api.list(), api.health()])
      byId('list-error').hidden = list.error === undefined
      byId('list-error').textContent = list.error ?? ''
      // What was read before is better than nothing while the service is away.
      if (list.error !== undefined) return
      documents = list.body
      notInForce = health.body?.endpointsNotInForce ?? []
      show()
    },
  }
}

function render(documents, notInForce, filter) {
  const wanted = filter.trim().toLowerCase().split(/\s+/)
  const shown = documents.filter((document) => {
    const text = searchable(document)
    return wanted.every((word) => text.includes(word))
  })
  byId('rows').replaceChildren(...shown.map((document) => row(document, notInForce.includes(document._id))))
  byId('list').hidden = shown.length === 0
  byId('no-endpoints').hidden = documents.length > 0
  byId('list-count').textContent = count(shown.length, documents.length)
}

const searchable = ({ name, description, endpoint, transformation }) =>
  [name, description, endpoint.method, endpoint.pattern, transformation.input, transformation.output]
    .join(' ')
    .toLowerCase()

function count(shown, all) {
  if (all === 0) return ''
  const endpoints = all === 1 ? 'endpoint' : 'endpoints'
  return shown === all ? `${all} ${endpoints}` : `${shown} of ${all} ${endpoints}`
}

function row({ _id, name, description, endpoint, transformation, updatedAt }, isOut) {
  const link = element('a', { href: `#/endpoints/${_id}`, dir: 'auto' }, name)
  const named = [link]
  if (isOut) named.push(element('span', { class: 'badge' }, 'not active'))
  if (description) named.push(element('p', { class: 'description', dir: 'auto' }, description))
  const method = element('span', { class: 'method', 'data-method': endpoint.method }, endpoint.method)
  return element(
    'tr',
    { role: 'row' },
    element('th', { scope: 'row', role: 'rowheader' }, ...named),
    cell('called', method),
    cell('pattern', element('code', {}, endpoint.pattern)),
    cell('types', `${transformation.input ?? 'no body'} → ${transformation.output}`),
    cell('updated', moment(updatedAt)),
  )
}

/** Roles are explicit, since a narrow page shows the rows as blocks, which browsers do not treat as a table. */
const cell = (name, content) => element('td', { class: name, role: 'cell' }, content)
