/** A state in one word, by sign, word and colour: the colour alone says nothing. */

import type { ReactNode } from 'react'
import { TextLink } from '../controls/text-link.tsx'
import { VisibleText } from '../text/visible-text.tsx'

export type Tone = 'good' | 'warn' | 'bad' | 'quiet' | 'busy'

const SIGNS: Readonly<Record<Tone, string>> = { good: '✓', warn: '!', bad: '✕', quiet: '–', busy: '…' }

export function StatusChip({ tone, children }: Readonly<{ tone: Tone; children: ReactNode }>) {
  return (
    <span className={`chip ${tone}`}>
      <span aria-hidden="true">{SIGNS[tone]}</span>
      {children}
    </span>
  )
}

const OUTCOMES: Readonly<Record<string, Tone>> = {
  done: 'good',
  partial: 'warn',
  refused: 'bad',
  failed: 'bad',
  interrupted: 'bad',
}

/** The outcome of a message, or of a run of a schedule. */
export const OutcomeChip = ({ outcome }: Readonly<{ outcome: string }>) => (
  <StatusChip tone={OUTCOMES[outcome] ?? 'quiet'}>{outcome}</StatusChip>
)

const MAX_CHARACTERS = 200

/** A name with its value, as the filter for it is written: `=` for labels, `:` for business keys. */
export const LabelChip = ({
  name,
  value,
  separator = '=',
}: Readonly<{ name: string; value: string; separator?: '=' | ':' }>) => (
  <span className="label-chip">
    <VisibleText text={name} max={MAX_CHARACTERS} />
    {value === '' ? null : (
      <>
        {separator}
        <VisibleText text={value} max={MAX_CHARACTERS} />
      </>
    )}
  </span>
)

/** `name`: its id instead, if it has none any more. */
export const EndpointLink = ({
  id,
  name = id,
  max = 200,
}: Readonly<{ id: string; name?: string | undefined; max?: number }>) => (
  <TextLink to="/endpoints/$id/edit" params={{ id }} text={<VisibleText text={name} max={max} />} />
)

export const MessageLink = ({ id, children = <code>{id}</code> }: Readonly<{ id: string; children?: ReactNode }>) => (
  <TextLink to="/messages/$id" params={{ id }} text={children} />
)
