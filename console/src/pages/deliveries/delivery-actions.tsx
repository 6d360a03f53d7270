/** Retrying one delivery, as it was or through the document of today, and cancelling it. */

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { ApiFailure } from '../../api/api-failure.ts'
import { get } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { queryParts } from '../../api/query-keys.ts'
import {
  cancelDelivery,
  type DeliveryDetail,
  type RetriedDelivery,
  retryDelivery,
} from '../../api/records/delivery-calls.ts'
import { useRefusal } from '../../api/session.ts'
import { Button } from '../../ui/controls/button.tsx'
import { ConfirmButton, ConfirmDialog } from '../../ui/controls/dialog.tsx'
import { TextField } from '../../ui/controls/fields.tsx'
import { OutcomeChip } from '../../ui/data/status-chip.tsx'
import { FailureNotice } from '../../ui/states/failure-notice.tsx'
import { VisibleText } from '../../ui/text/visible-text.tsx'

const NOT_EDITABLE =
  'Parts of the body are hidden, or it is not text, so it cannot be edited here. POST /deliveries/{id}/retry takes a whole body.'

export function DeliveryActions({ delivery }: Readonly<{ delivery: DeliveryDetail }>) {
  const { id, state, outgoing } = delivery
  const refused = useRefusal('operator')
  const client = useQueryClient()
  /** The body to send instead, before its changes; undefined until it is edited. */
  const [edited, setEdited] = useState<string>()
  const [replay, setReplay] = useState<Pick<RetriedDelivery, 'replay' | 'warning'>>({})
  const settle = () => {
    void client.invalidateQueries({ queryKey: queryParts.deliveries })
    client.removeQueries({ queryKey: queries.deliveryRequest(id).queryKey })
  }
  const edit = useMutation({
    mutationFn: async () => {
      const { body, masked } = await get('/deliveries/{id}/request', { path: { id } })
      // What is hidden would be sent as it is shown.
      if (masked || body === undefined) throw new ApiFailure(NOT_EDITABLE, { status: 422 })
      return body
    },
    onSuccess: (body) => setEdited(body),
  })
  if (state === 'delivered') return null
  const run = async (act: () => Promise<DeliveryDetail | RetriedDelivery>) => {
    try {
      const after = await act()
      setReplay('replay' in after ? after : {})
    } finally {
      settle()
    }
  }
  return (
    <section aria-label="Actions">
      <div className="row">
        <ConfirmButton
          text="Retry …"
          title="Retry the delivery"
          confirm="Retry"
          tone="primary"
          refused={refused}
          onConfirm={() => run(() => retryDelivery(id, {}))}
        >
          The same request is sent again at once, in the order of its key.
        </ConfirmButton>
        <Button
          text="Retry with another body …"
          refused={refused ?? (outgoing?.contentType === undefined ? 'Its request has no body.' : undefined)}
          busy={edit.isPending}
          onPress={() => edit.mutate()}
        />
        <ConfirmButton
          text="Retry through the document of today …"
          title="Retry through the document of today"
          confirm="Run the message"
          refused={refused}
          onConfirm={() => run(() => retryDelivery(id, { endpoint: 'now' }))}
        >
          The message runs again, through its endpoint as it is now; of its requests, only this one is made. If the
          message succeeds, this delivery is cancelled.
        </ConfirmButton>
        {state !== 'cancelled' && (
          <ConfirmButton
            text="Cancel the delivery …"
            title="Cancel the delivery"
            confirm="Cancel the delivery"
            tone="danger"
            refused={refused}
            onConfirm={() => run(() => cancelDelivery(id))}
          >
            It is not sent any more, and what waits behind it goes on. If it is being sent at this moment, it may arrive
            nevertheless.
          </ConfirmButton>
        )}
      </div>
      <FailureNotice failure={edit.error} />
      <Replayed {...replay} />
      {edited !== undefined && (
        <EditDialog
          body={edited}
          onClose={() => setEdited(undefined)}
          onSend={(body) => run(() => retryDelivery(id, { body }))}
        />
      )}
    </section>
  )
}

/** What became of the message that ran through the document of today. */
function Replayed({ replay, warning }: Pick<RetriedDelivery, 'replay' | 'warning'>) {
  if (replay === undefined) return null
  return (
    <div role="status">
      <p>
        <OutcomeChip outcome={replay.outcome} />{' '}
        <Link to="/messages/$id" params={{ id: replay.id }}>
          The message ran as <code>{replay.id}</code>
        </Link>
        {replay.error === undefined ? null : (
          <>
            : <VisibleText text={replay.error} />
          </>
        )}
      </p>
      {warning === undefined ? null : (
        <p className="bad-text">
          <VisibleText text={warning} />
        </p>
      )}
    </div>
  )
}

type EditDialogProps = Readonly<{ body: string; onClose(): void; onSend(body: string): Promise<void> }>

function EditDialog({ body, onClose, onSend }: EditDialogProps) {
  const [text, setText] = useState(body)
  return (
    <ConfirmDialog
      title="Retry with another body"
      size="large"
      confirm="Retry with this body"
      refused={text === body ? 'Change the body first.' : undefined}
      isDismissable={false}
      onConfirm={() => onSend(text)}
      onClose={onClose}
    >
      <TextField label="Body" value={text} onChange={setText} rows={14} />
    </ConfirmDialog>
  )
}
