// The way to an identity provider that a host names in an answer.

import type { App } from './app.ts';
import type { Problem } from './faults.ts';
import type { Outcome } from './http.ts';
import { safeTarget } from './target.ts';
import type { Trip } from './trip.ts';
import { isObject } from './wire.ts';

/** Goes to the provider that the host has named. It returns what went wrong, in the words of a screen, or nothing when the browser moves on. */
export function goTo(app: App, screen: string, outcome: Outcome, trip: Trip): Problem | undefined {
  const url = outcome.kind === 'ok' && isObject(outcome.data) ? safeTarget(outcome.data.url) : undefined;
  if (url === undefined) return app.explain({ screen }, outcome);
  app.leaveFor(trip);
  location.assign(url);
  return undefined;
}
