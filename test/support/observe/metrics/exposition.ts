/** Reads Prometheus' text format, strictly: a line that is not of it fails. */
import assert from 'node:assert/strict'

export type Series = Readonly<{
  name: string
  /** Its name in TYPE: without what a histogram puts behind it. */
  family: string
  labels: Readonly<Record<string, string>>
  value: number
}>

export type Exposition = Readonly<{ text: string; types: Readonly<Record<string, string>>; series: readonly Series[] }>

const LINE =
  /^([a-zA-Z_:][\w:]*)(?:\{((?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\[\\"n])*",?)+)\})? ([-+]?[\d.eE+-]+|Na[nN]|[+-]Inf)$/

export function readExposition(text: string): Exposition {
  const types: Record<string, string> = {}
  const series: Series[] = []
  for (const line of text.split('\n')) {
    const typed = /^# TYPE (\S+) (\w+)$/.exec(line)
    if (typed !== null) {
      assert.equal(types[typed[1] as string], undefined, line)
      types[typed[1] as string] = typed[2] as string
    }
    if (line === '' || line.startsWith('#')) continue
    const [, name = '', labels = '', value] = LINE.exec(line) ?? assert.fail(line)
    const pairs = labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)
    const bare = name.replace(/_(bucket|sum|count)$/, '')
    const family = types[name] === undefined && types[bare] === 'histogram' ? bare : name
    assert.ok(types[family] !== undefined, `${line} has no TYPE`)
    series.push({
      name,
      family,
      labels: Object.fromEntries(Array.from(pairs, ([, key, text]) => [key, text])),
      value: Number(value),
    })
  }
  const seen = series.map(({ name, labels }) => `${name} ${JSON.stringify(labels)}`)
  assert.equal(new Set(seen).size, seen.length, 'a series stands twice')
  return { text, types, series }
}
