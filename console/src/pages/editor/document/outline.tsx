/** The outline of a document: each part leads to its place in the text. */
import { useMemo } from 'react'
import { VisibleText } from '../../../ui/text/visible-text.tsx'
import { documentOutline } from './document-outline.ts'

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
            <span className="quiet">
              <VisibleText text={detail} max={200} />
            </span>
          </li>
        ))}
      </ul>
    </nav>
  )
}
