import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { describe, test } from 'node:test'
import type { Json } from '../../../../src/core/json.ts'
import { type Ambient, parseExpression } from '../../../../src/language/jsonata/expression.ts'

const limits = { timeoutMs: 60_000, maxDepth: 500, maxSequence: 100_000 }
const nowMs = Date.parse('2026-03-04T05:06:07.089Z')

async function evaluated(text: string, ambient: Ambient = { nowMs, seed: 'a' }): Promise<Json | undefined> {
  const parsed = parseExpression(text, limits, () => ambient)
  assert.ok(parsed.ok, parsed.ok ? '' : parsed.message)
  return parsed.value.evaluate({ requestBody: { list: [1, 2, 3, 4, 5, 6, 7, 8] } })
}

describe('an expression with a given time and seed', () => {
  const cases: readonly (readonly [text: string, value: Json])[] = [
    ['$now()', '2026-03-04T05:06:07.089Z'],
    ['$now("[Y0001]-[M01]-[D01] [H01]:[m01] [z]", "+0200")', '2026-03-04 07:06 GMT+02:00'],
    ['$millis()', nowMs],
    ['$fromMillis($millis())', '2026-03-04T05:06:07.089Z'],
    ['$eval("$now()")', '2026-03-04T05:06:07.089Z'],
    ['$map([1, 2], function($n) { $now() })[1]', '2026-03-04T05:06:07.089Z'],
    ['$toMillis("07:30", "[H01]:[m01]") = $toMillis("2026-03-04T07:30:00Z")', true],
    ['$toMillis("2020-07-01T12:00:00")', Date.parse('2020-07-01T12:00:00Z')],
    ['$toMillis("2020-07-01T12:00:00.5")', Date.parse('2020-07-01T12:00:00.500Z')],
    ['$toMillis("2020-07-01T12:00:00+02:00")', Date.parse('2020-07-01T10:00:00Z')],
    ['$toMillis("2020-07-01")', Date.parse('2020-07-01T00:00:00Z')],
    ['(requestBody.list.$toMillis("2020-07-01T12:00:00"))[0]', Date.parse('2020-07-01T12:00:00Z')],
    ['$random() = $random()', false],
    ['$sort($shuffle(requestBody.list))', [1, 2, 3, 4, 5, 6, 7, 8]],
    ['$shuffle(requestBody.list) = requestBody.list', false],
    ['$min($map([1..300], function($n) { $random() })) >= 0', true],
    ['$max($map([1..300], function($n) { $random() })) < 1', true],
    ['$abs($average($map([1..500], function($n) { $random() })) - 0.5) < 0.06', true],
  ]
  for (const [text, value] of cases) {
    test(`${text} is ${JSON.stringify(value)}`, async () => assert.deepEqual(await evaluated(text), value))
  }

  test('draws the same for the same seed and text, at every run', async () => {
    const text = '[$random(), $shuffle(requestBody.list), $random()]'
    const parsed = parseExpression(text, limits, () => ({ nowMs, seed: 'a' }))
    assert.ok(parsed.ok)
    const first = await parsed.value.evaluate({ requestBody: { list: [1, 2, 3] } })
    assert.deepEqual(await parsed.value.evaluate({ requestBody: { list: [1, 2, 3] } }), first)
    const both = [1, 2].map(() => parsed.value.evaluate({ requestBody: { list: [1, 2, 3] } }))
    assert.deepEqual(await Promise.all(both), [first, first])
    assert.notDeepEqual(await evaluated(text), await evaluated(text, { nowMs, seed: 'b' }))
  })

  test('does not depend on the time zone of the machine', () => {
    const script = `
      const { parseExpression } = await import(${JSON.stringify(new URL('../../../../src/language/jsonata/expression.ts', import.meta.url).href)})
      const texts = ['$toMillis("2020-07-01T12:00:00")', '$now("[H01]")', '$toMillis("07:30", "[H01]:[m01]")']
      const ambient = () => ({ nowMs: ${nowMs}, seed: '' })
      const values = texts.map((text) => parseExpression(text, ${JSON.stringify(limits)}, ambient).value.evaluate({}))
      console.log(JSON.stringify(await Promise.all(values)))`
    const env = { ...process.env, TZ: 'Asia/Kathmandu' }
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      env,
      encoding: 'utf8',
    })
    const expected = ['2020-07-01T12:00:00Z', '', '2026-03-04T07:30:00Z'].map((time) => Date.parse(time) || '05')
    assert.deepEqual(JSON.parse(stdout), expected, stderr)
  })

  test('leaves other expressions alone', async () => {
    const parsed = parseExpression('$millis()', limits)
    assert.ok(parsed.ok)
    assert.ok(Math.abs(Number(await parsed.value.evaluate({})) - Date.now()) < 60_000)
  })
})
