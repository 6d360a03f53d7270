/** The recipe "Add a stage": one that adds a label of the document to the message, for paths of later stages. */
import type { Recipe } from './recipe.ts'

export const addStage: Recipe = {
  edits: [
    {
      folder: 'src',
      anchor: "  transform: { adds: 'transforms', isRoot: true },\n",
      insert: "  label: { adds: 'label', isRoot: true },\n",
      where: 'after',
    },
    {
      folder: 'src',
      anchor: '    inputMapping: anyObject({\n',
      insert: "    label: optional(text({ description: 'A label.', examples: ['blue'] })),\n",
      where: 'before',
    },
    {
      folder: 'src',
      anchor: "    .add('map', compileMap(",
      insert: "    .add('label', compileLabel(endpoint))\n",
      where: 'before',
      imports: 'compileLabel',
    },
    {
      folder: 'test',
      anchor: '  "inputTransforms": { "first": "requestBody.a"',
      insert: '  "label": "blue",\n',
      where: 'before',
    },
    {
      folder: 'docs',
      anchor: '| `transforms` | the results of the transforms |',
      insert: '| `label` | `text`: the label of the endpoint | mapping, response requests |\n',
      where: 'before',
    },
  ],
  files: [
    {
      folder: 'src',
      beside: 'export function compileMap(',
      name: 'label.ts',
      text: (from) => `import type { Endpoint } from '${from('EndpointSchema')}'
import type { JsonObject } from '${from('JsonObject')}'
import type { Transformed } from '${from('Transformed')}'
import type { Step } from '${from('startChain')}'

export type Labelled = Transformed & Readonly<{ label: JsonObject }>

export function compileLabel({ label: text }: Endpoint): Step<Transformed, Labelled> {
  if (text === undefined) return { adds: { label: {} } }
  return (message) => ({ ...message, label: { text } })
}
`,
    },
    {
      folder: 'test',
      beside: "describe('what a schema is applied to'",
      name: 'label.test.ts',
      text: () => `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { json, startService } from '../../service.ts'

test('a mapping reads the label, and a dry run and the metrics show the stage', async () => {
  const service = await startService()
  try {
    const endpoint = await service.register({
      endpoint: { pattern: '/labelled' },
      label: 'blue',
      inputMapping: { 'label.text': 'colour' },
    })
    assert.deepEqual((await service.fetch('/labelled', json('POST', {}))).json(), { colour: 'blue' })
    const dryRun = await service.fetch(
      '/endpoints/dry-run',
      json('POST', { endpointId: endpoint._id, message: { body: {} } }),
    )
    assert.match(dryRun.text, /"stage":"label",.*"output":{"label":{"text":"blue"}}}/)
    const metrics = await fetch(\`\${service.adminUrl}/metrics\`)
    assert.match(await metrics.text(), /stage="label"/)
  } finally {
    await service.stop()
  }
})
`,
    },
  ],
  generated: ['docs/endpoint-document.md'],
  shownBy: { file: 'label.test.ts', name: 'a mapping reads the label' },
}
