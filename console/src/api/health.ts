/** How the service is; it answers although it is not ready. */
import { useQuery } from '@tanstack/react-query'
import { callService, type Schemas } from './client.ts'
import { answerKey, keyed } from './query-keys.ts'

type Health = Schemas['Health']

const EVERY_MS = 10_000

export function useHealth() {
  return useQuery({
    ...keyed(answerKey<Health>('health', 'ready'), async ({ signal }) => {
      const response = await callService(new Request(`${location.origin}/health/ready`, { signal }))
      return (await response.json()) as Health
    }),
    refetchInterval: EVERY_MS,
  })
}
