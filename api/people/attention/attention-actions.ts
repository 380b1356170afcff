import type { AttentionRule } from '../../../domain/kernel/attention/attention-rule.ts';
import type { Actor } from '../../../domain/kernel/shared/actor.ts';
import type { FoundNeed } from '../../../domain/people/attention/attention.queries.ts';
import type { AnyRoute } from '../../http/define-route.ts';

/** What is to be done about something, as a request. */
export interface AttentionAction {
  operation: string;
  method: string;
  path: string;
  /** Whether the role of the caller may do it. */
  isAllowed: boolean;
}

/** Which rules a caller is told of, and what is to be done, by the routes of the API. */
export interface AttentionActions {
  rulesFor: (actor: Actor, rules: readonly AttentionRule[]) => AttentionRule[];
  actionOf: (actor: Actor, need: FoundNeed) => AttentionAction;
}

/** Throws for a rule that names an operation which there is not. */
export function attentionActions(routes: readonly AnyRoute[], rules: readonly AttentionRule[]): AttentionActions {
  const byOperation = new Map(routes.map((route) => [route.operationId, route]));
  const routeOf = (operation: string): AnyRoute => {
    const route = byOperation.get(operation);
    if (!route) throw new Error(`What needs attention names ${operation}, which is no operation`);
    return route;
  };
  for (const { shownBy, action } of rules) for (const operation of [shownBy, action]) routeOf(operation);
  const isAdmitted = ({ roles, projectScope }: AnyRoute, { role, projectIds }: Actor): boolean =>
    roles !== 'public' && roles.includes(role) && (projectIds === undefined || projectScope !== 'refused');
  return {
    rulesFor: (actor, given) => given.filter(({ shownBy }) => isAdmitted(routeOf(shownBy), actor)),
    actionOf(actor, { rule: { action }, params, query = {} }) {
      const route = routeOf(action);
      const path = route.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
      const search = new URLSearchParams(query).toString();
      return {
        operation: action,
        method: route.method.toUpperCase(),
        path: search === '' ? path : `${path}?${search}`,
        isAllowed: isAdmitted(route, actor),
      };
    },
  };
}
