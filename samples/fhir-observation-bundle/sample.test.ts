import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Sample, startSample } from '../run-sample.ts'

type Outcome = Readonly<{ issue: readonly Readonly<{ details: { text: string }; expression: string[] }>[] }>
type Entry = Readonly<{
  resource: { valueQuantity: { value: number }; interpretation: { coding: { code: string }[] }[] }
}>

let sample: Sample

before(async () => {
  sample = await startSample(import.meta.dirname)
})
after(() => sample.stop())

const measured = (changes: object) =>
  sample.send('/vital-signs', JSON.stringify({ ...(sample.json('input.json') as object), ...changes }))

test('turns the vital signs into a transaction of two Observations', async () => {
  const reply = await sample.send('/vital-signs', sample.text('input.json'))
  assert.equal(reply.status, 200)
  assert.deepEqual(reply.json(), sample.json('output.json'))
})

const flags = [
  { name: 'low', heartRate: 59, temperatureF: 95, expect: [59, 'L', 35, 'L'] },
  { name: 'normal at the lower ends', heartRate: 60, temperatureF: 96.8, expect: [60, 'N', 36, 'N'] },
  {
    name: 'normal at the upper end, and feverish from 38 degrees',
    heartRate: 100,
    temperatureF: 100.4,
    expect: [100, 'N', 38, 'H'],
  },
  { name: 'high', heartRate: 101, temperatureF: 104, expect: [101, 'H', 40, 'H'] },
]

for (const { name, heartRate, temperatureF, expect } of flags) {
  test(`flags what is ${name}`, async () => {
    const reply = await measured({ heartRate, temperatureF })
    const { entry } = reply.json<{ entry: Entry[] }>()
    const found = entry.flatMap(({ resource }) => [
      resource.valueQuantity.value,
      resource.interpretation[0]?.coding[0]?.code,
    ])
    assert.deepEqual(found, expect)
  })
}

const faulty = [
  {
    name: 'all of it, at once',
    changes: { patientId: '../10021', measuredAt: 'this morning', heartRate: 19, temperatureF: 76.9 },
    expect: ['heartRate', 'measuredAt', 'patientId', 'temperatureF'],
  },
  { name: 'too much', changes: { heartRate: 301, temperatureF: 113.1 }, expect: ['heartRate', 'temperatureF'] },
  { name: 'half a beat', changes: { heartRate: 72.5 }, expect: ['heartRate'] },
]

for (const { name, changes, expect } of faulty) {
  test(`reports what is wrong: ${name}`, async () => {
    const reply = await measured(changes)
    assert.equal(reply.status, 400)
    const { issue } = reply.json<Outcome>()
    assert.deepEqual(issue.flatMap(({ expression }) => expression).sort(), expect)
    const texts = issue.map(({ details }) => details.text)
    assert.ok(texts.includes('heartRate must be a whole number of beats a minute, 20 to 300'), texts.join())
  })
}

test('says in its own words which unit is wanted', async () => {
  const { issue } = (await measured({ temperatureF: 38.5 })).json<Outcome>()
  assert.deepEqual(
    issue.map(({ details, expression }) => [details.text, ...expression]),
    [['temperatureF must be in degrees Fahrenheit, 77 to 113', 'temperatureF']],
  )
})
