/** Pausing an endpoint and resuming it: a version with that one change. */
import { pauseEndpoint } from '../../api/document-calls.ts'
import type { EndpointRow } from '../../api/endpoint-row.ts'
import { queryParts, reload } from '../../api/query-keys.ts'
import { ConfirmDialog } from '../controls/dialog.tsx'
import { notify } from '../states/notices.tsx'

export function PauseDialog({ row, onClose }: Readonly<{ row: EndpointRow; onClose(): void }>) {
  const isPaused = row.paused === true
  const change = async () => {
    await pauseEndpoint(row.id, !isPaused)
    await reload(queryParts.endpoints)
    notify(isPaused ? 'The endpoint is resumed.' : 'The endpoint is paused.')
  }
  return (
    <ConfirmDialog
      title={isPaused ? 'Resume this endpoint' : 'Pause this endpoint'}
      confirm={isPaused ? 'Resume endpoint' : 'Pause endpoint'}
      onConfirm={change}
      onClose={onClose}
    >
      {isPaused ? (
        <p>
          Messages are taken again. Topics continue behind the last record that was processed. Runs of a schedule that
          were due meanwhile count as missed.
        </p>
      ) : (
        <>
          <p>
            Until it is resumed, requests are answered with 503 and the time to try again, and senders over MLLP are
            asked to send again. Topics are not read, and schedules do not run.
          </p>
          <p>Stored deliveries are still sent, and messages can still be replayed and tried.</p>
        </>
      )}
      <p>It becomes a new version that changes nothing else.</p>
    </ConfirmDialog>
  )
}
