/** The outline of a document: each part leads to its place in the text. */
import { useMemo } from 'react'
import { listMembers, memberNamed, readTree } from '../../../draft/json-places.ts'
import { VisibleText } from '../../../ui/text/visible-text.tsx'

export function Outline({ text, onGo }: Readonly<{ text: string; onGo(from: number, to: number): void }>) {
  const rows = useMemo(() => documentOutline(text), [text])
  return (
    <nav className="outline" aria-label="Outline">
      <ul>
        {rows.map(({ title, depth, from, to, detail }) => (
          <li key={from} className={depth === 0 ? undefined : 'inner'}>
            <button type="button" className="link" onClick={() => onGo(from, to)}>
              <VisibleText text={title} max={200} />
            </button>{' '}
            <VisibleText as="span" className="quiet" text={detail} max={200} />
          </li>
        ))}
      </ul>
    </nav>
  )
}

type OutlineRow = Readonly<{ title: string; depth: 0 | 1; from: number; to: number; detail: string }>

const WITH_ROWS: ReadonlySet<string> = new Set(['inputTransforms', 'inputMapping', 'constants'])
const MAX_ROWS = 500

function documentOutline(text: string): readonly OutlineRow[] {
  const rows = listMembers(readTree(text)).flatMap(({ name, key, value }): readonly OutlineRow[] => {
    const own = {
      title: name,
      depth: 0,
      from: key.offset,
      to: key.offset + key.length,
      detail: summarizeValue(value),
    } as const
    if (WITH_ROWS.has(name)) {
      return [
        own,
        ...listMembers(value).map((one) => ({
          title: one.name,
          depth: 1 as const,
          from: one.key.offset,
          to: one.key.offset + one.key.length,
          detail: '',
        })),
      ]
    }
    if (name !== 'requests') return [own]
    return [
      own,
      ...listMembers(value).flatMap((list) =>
        (list.value.children ?? []).map((one, index) => ({
          title: `${list.name} ${String(memberNamed(one, 'id')?.value ?? index)}`,
          depth: 1 as const,
          from: one.offset,
          to: one.offset + 1,
          detail: '',
        })),
      ),
    ]
  })
  return rows.slice(0, MAX_ROWS)
}

function summarizeValue(value: Readonly<{ type: string; value?: unknown; children?: readonly unknown[] }>): string {
  if (value.type === 'string') return String(value.value).slice(0, 40)
  return value.children === undefined || value.children.length === 0 ? '' : String(value.children.length)
}
