/** What each recipe of CONTRIBUTING.md comes to, for a setting, a failure code and so on that do nothing useful. */
import { addBroker } from './broker-recipe.ts'
import { addFormat } from './format-recipe.ts'
import type { Recipe } from './recipe.ts'
import { addStage } from './stage-recipe.ts'

/** By the heading of the section. Edits find their file by a text in it: its path is what CONTRIBUTING.md has to say. */
export const RECIPES: Readonly<Record<string, Recipe>> = {
  'Add a setting': {
    edits: [
      {
        folder: 'src',
        anchor: 'export const metrics = {\n',
        insert: `  metricsRecipe: { name: 'METRICS_RECIPE', kind: wholeNumber(0, 9), default: '7', means: 'A recipe.' },\n`,
        where: 'after',
      },
      { folder: 'test', anchor: 'const DEFAULTS: Settings = {\n', insert: '  metricsRecipe: 7,\n', where: 'after' },
    ],
    files: [],
    generated: ['docs/settings.md', '.env.example'],
    shownBy: { file: 'settings.test.ts', name: 'an empty environment gives the defaults' },
  },
  'Add a failure code': {
    edits: [
      {
        folder: 'src',
        anchor: 'export const FAILURES = {\n',
        insert: `  RECIPE_UNKNOWN: { status: 418, retry: false, issue: 'not-found', means: 'The recipe is not known.' },\n`,
        where: 'after',
      },
      {
        folder: 'src',
        anchor: 'const CAN_FAIL: Readonly<Record<MessageFailureCode, (parts: Parts) => boolean>> = {\n',
        insert: '  RECIPE_UNKNOWN: never,\n',
        where: 'after',
      },
    ],
    files: [
      {
        folder: 'src',
        beside: 'export function compileEndpoint(',
        name: 'refuse-recipe.ts',
        text: (from) => `import { Failure } from '${from('Failure')}'

export function refuseRecipe(): never {
  throw new Failure('RECIPE_UNKNOWN', 'There is no such recipe; name another one.', { path: 'recipe' })
}
`,
      },
      {
        folder: 'test',
        beside: 'const DEFAULTS: Settings = {',
        name: 'refuse-recipe.test.ts',
        text: (from) => `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refuseRecipe } from '${from('refuseRecipe')}'

test('an unknown recipe is refused', () => assert.throws(refuseRecipe, { code: 'RECIPE_UNKNOWN' }))
`,
      },
    ],
    generated: ['docs/failures.md'],
    shownBy: { file: 'refuse-recipe.test.ts', name: 'an unknown recipe' },
  },
  'Add a management route': {
    edits: [
      {
        folder: 'src',
        anchor: '  serveMetrics(server, health.metrics)\n',
        insert: '  serveRecipes(server)\n',
        where: 'before',
        imports: 'serveRecipes',
      },
      {
        folder: 'src',
        anchor: "  '/metrics': {",
        insert: "  '/recipes': { get: { summary: 'All recipes.', responses: { 200: answer('Recipes.') } } },\n",
        where: 'before',
      },
      {
        folder: 'test',
        anchor: "      '/stats',\n      '/uptime',\n    ])",
        insert: "      '/recipes',\n",
        where: 'before',
      },
    ],
    files: [
      {
        folder: 'src',
        beside: 'export function serveUptime(',
        name: 'recipes.ts',
        text: (from) => `import type { FastifyInstance } from 'fastify'
import { refuseOtherMethods } from '${from('refuseOtherMethods')}'
import { needs } from '${from('needs')}'
import { sendJson } from '${from('sendJson')}'

export function serveRecipes(server: FastifyInstance): void {
  server.get('/recipes', needs('viewer'), async (_request, reply) => sendJson(reply, 200, []))
  refuseOtherMethods(server, '/recipes', ['GET'])
}
`,
      },
    ],
    generated: [],
    shownBy: { file: 'ports.test.ts', name: 'describes calls that are all answered' },
  },
  'Add a stage': addStage,
  'Add a broker': addBroker,
  'Add a format': addFormat,
}
