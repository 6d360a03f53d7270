/** `Ctrl+K`: pages, and endpoints by their names as the service finds them. */

import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { Autocomplete } from 'react-aria-components/Autocomplete'
import { Input } from 'react-aria-components/Input'
import { ListBox, ListBoxItem } from 'react-aria-components/ListBox'
import { SearchField } from 'react-aria-components/SearchField'
import { formatEntrance } from '../api/endpoint-row.ts'
import { queries } from '../api/queries.ts'
import type { Me } from '../api/session.ts'
import { Dialog } from '../ui/controls/dialog.tsx'
import { VisibleText } from '../ui/text/visible-text.tsx'
import { NAVIGATION } from './navigation.ts'

const MAX_ENDPOINTS = 10

type Command = Readonly<{ id: string; title: string; hint: string; run(): void }>

export function CommandPalette({ me, onClose }: Readonly<{ me: Me; onClose(): void }>) {
  const [text, setText] = useState('')
  const navigate = useNavigate()
  const q = text.trim().slice(0, 200)
  const { data } = useQuery({
    ...queries.endpointsFound({ ...(q !== '' && { q }), limit: MAX_ENDPOINTS }),
    placeholderData: keepPreviousData,
  })
  const pages = NAVIGATION.filter(
    ({ needs, title }) => me.may.includes(needs) && title.toLowerCase().includes(q.toLowerCase()),
  ).map(({ to, title }): Command => ({ id: to, title, hint: 'Page', run: () => void navigate({ to }) }))
  const endpoints = (data?.endpoints ?? []).map(
    (row): Command => ({
      id: row.id,
      title: row.name,
      hint: formatEntrance(row),
      run: () => void navigate({ to: '/endpoints/$id/edit', params: { id: row.id } }),
    }),
  )
  const commands = [...pages, ...endpoints]
  const run = (id: string) => {
    onClose()
    commands.find((command) => command.id === id)?.run()
  }
  return (
    <Dialog title="Go to" onClose={onClose}>
      <Autocomplete inputValue={text} onInputChange={setText}>
        <SearchField aria-label="Page or endpoint" autoFocus>
          <Input placeholder="Page or endpoint" />
        </SearchField>
        <ListBox
          aria-label="Pages and endpoints"
          className="palette-list"
          items={commands}
          onAction={(key) => run(String(key))}
          renderEmptyState={() => <p className="quiet">No matches.</p>}
        >
          {({ id, title, hint }) => (
            <ListBoxItem id={id} textValue={title} className="palette-item between">
              <span dir="auto">
                <VisibleText text={title} max={200} />
              </span>
              <VisibleText as="span" className="quiet" text={hint} max={100} />
            </ListBoxItem>
          )}
        </ListBox>
      </Autocomplete>
    </Dialog>
  )
}
