/** What can be done with an endpoint as a whole, at its head and in the list: one menu. */
import { useNavigate } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { Button as AriaButton } from 'react-aria-components/Button'
import { Menu, MenuItem, MenuTrigger, Popover } from 'react-aria-components/Menu'
import { asFailure } from '../../api/api-failure.ts'
import { readDocument } from '../../api/document-calls.ts'
import { type EndpointRow, isRouted } from '../../api/endpoint-row.ts'
import { useMe, useRefusal } from '../../api/session.ts'
import { downloadText } from '../data/clipboard.ts'
import { notify } from '../states/notices.tsx'

const SampleCurlDialog = lazy(async () => ({ default: (await import('./sample-curl-dialog.tsx')).SampleCurlDialog }))
const SendDialog = lazy(async () => ({ default: (await import('./send-dialog.tsx')).SendDialog }))
const PauseDialog = lazy(async () => ({ default: (await import('./pause-dialog.tsx')).PauseDialog }))
const DeleteDialog = lazy(async () => ({ default: (await import('./delete-dialog.tsx')).DeleteDialog }))

type Action = Readonly<{ id: string; text: string; refused?: string | undefined; run(): void }>

/** The menu itself is made when it is opened first: a page of the list has 200. */
export function EndpointActions({ row, inRow = false }: Readonly<{ row: EndpointRow; inRow?: boolean }>) {
  const origin = useMe()?.messageOrigin ?? ''
  const author = useRefusal('author')
  const operator = useRefusal('operator')
  const navigate = useNavigate()
  const [isMade, setMade] = useState(false)
  const [dialog, setDialog] = useState<'curl' | 'send' | 'pause' | 'delete'>()
  const close = () => setDialog(undefined)
  const exportDocument = async () => {
    try {
      downloadText((await readDocument(row.id)).text, `endpoint-${row.id}.json`)
    } catch (thrown) {
      notify(asFailure(thrown).message)
    }
  }
  const noRoute = isRouted(row) ? undefined : 'It has no route.'
  const actions: readonly Action[] = [
    { id: 'send', text: 'Send a message …', refused: noRoute ?? operator, run: () => setDialog('send') },
    { id: 'curl', text: 'Copy as curl …', refused: noRoute, run: () => setDialog('curl') },
    { id: 'pause', text: row.paused ? 'Resume …' : 'Pause …', refused: author, run: () => setDialog('pause') },
    {
      id: 'duplicate',
      text: 'Duplicate',
      refused: author,
      run: () => void navigate({ to: '/endpoints/new', search: { copy: row.id } }),
    },
    { id: 'export', text: 'Export', run: () => void exportDocument() },
    { id: 'delete', text: 'Delete …', refused: author, run: () => setDialog('delete') },
  ]
  const label = `Actions of ${row.name}`
  return (
    <>
      {isMade ? (
        <MenuTrigger defaultOpen>
          <AriaButton className="button quiet" aria-label={label}>
            {inRow ? '⋯' : 'Actions'}
          </AriaButton>
          <Popover className="popover" placement="bottom end">
            <Menu
              className="menu"
              aria-label={label}
              disabledKeys={actions.flatMap(({ id, refused }) => (refused === undefined ? [] : [id]))}
              onAction={(chosen) => actions.find(({ id }) => id === chosen)?.run()}
            >
              {actions.map(({ id, text, refused }) => (
                <MenuItem key={id} id={id} textValue={text} className="menu-item between">
                  {text}
                  {refused && <span className="quiet">{refused}</span>}
                </MenuItem>
              ))}
            </Menu>
          </Popover>
        </MenuTrigger>
      ) : (
        <button
          type="button"
          className="button quiet"
          aria-label={label}
          aria-haspopup="menu"
          onClick={() => setMade(true)}
        >
          {inRow ? '⋯' : 'Actions'}
        </button>
      )}
      {dialog !== undefined && (
        <Suspense>
          {dialog === 'pause' && <PauseDialog row={row} onClose={close} />}
          {dialog === 'delete' && <DeleteDialog row={row} onClose={close} />}
          {dialog === 'send' && isRouted(row) && <SendDialog row={row} onClose={close} />}
          {dialog === 'curl' && isRouted(row) && <SampleCurlDialog row={row} origin={origin} onClose={close} />}
        </Suspense>
      )}
    </>
  )
}
