/** Documents as the editor shows them. */

export const TEMPLATE = `${JSON.stringify(
  {
    name: 'New endpoint',
    description: '',
    endpoint: { pattern: '/new-endpoint', method: 'POST' },
    transformation: { input: 'JSON', output: 'JSON' },
    inputMapping: { 'requestBody.name': 'name' },
  },
  null,
  2,
)}\n`

/** The configuration of a stored document, without what the service sets and the page shows beside the text. */
export function textOf({ _id, createdAt, updatedAt, __v, ...configuration }) {
  return `${JSON.stringify(configuration, null, 2)}\n`
}
