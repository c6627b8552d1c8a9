import type { AuthScheme, PaywallStatus } from '../../../../shared/contract/paywalls.ts';
import type {
  ChargedRequest,
  PaidRights,
  PaywallRecord,
  RateLimit,
  TokenTerms,
} from '../../../features/paywalls/store.ts';
import { integer, primaryKey, sql, sqliteTable, text } from '../engine/orm.ts';

/** Columns of a `PaywallRecord`. */
export const paywalls = sqliteTable('paywalls', {
  id: text().primaryKey(),
  ownerId: text().notNull(),
  owner: integer().notNull(),
  name: text().notNull(),
  status: text().$type<PaywallStatus>().notNull(),
  host: text(),
  pathPrefix: text().notNull(),
  methods: text({ mode: 'json' }).$type<string[]>().notNull(),
  upstream: text({ mode: 'json' }).$type<PaywallRecord['upstream']>().notNull(),
  headers: text(),
  mayBePrivate: integer({ mode: 'boolean' }).notNull(),
  priceSats: integer().notNull(),
  authScheme: text().$type<AuthScheme>().notNull(),
  token: text({ mode: 'json' }).$type<TokenTerms>().notNull(),
  freePaths: text({ mode: 'json' }).$type<string[]>().notNull(),
  freeRequestsPerDay: integer().notNull(),
  rateLimit: text({ mode: 'json' }).$type<RateLimit>(),
  allowedOrigins: text({ mode: 'json' }).$type<string[]>().notNull().default([]),
  revision: integer().notNull(),
  createdAt: integer().notNull(),
  updatedAt: integer().notNull(),
  deletedAt: integer(),
  challenges: integer().notNull().default(0),
  paid: integer().notNull().default(0),
  revenue: integer().notNull().default(0),
});

/** A literal, as SQLite does not use a partial index for a bound value. */
export const isServing = sql`${paywalls.status} <> 'deleted'`;

/** Columns of a `ChallengeRecord`. */
export const paywallChallenges = sqliteTable('paywall_challenges', {
  id: text().primaryKey(),
  paywallId: text().notNull(),
  invoiceId: text().notNull(),
  paymentHash: text().notNull(),
  createdAt: integer().notNull(),
  expiresAt: integer().notNull(),
  uses: integer().notNull().default(0),
  paymentId: text(),
  request: text({ mode: 'json' }).$type<ChargedRequest>(),
  rights: text({ mode: 'json' }).$type<PaidRights>(),
  seenAt: integer(),
});

/** Free requests of a client on a UTC day. */
export const paywallFreeUses = sqliteTable(
  'paywall_free_uses',
  {
    day: text().notNull(),
    paywallId: text().notNull(),
    client: text().notNull(),
    count: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.day, table.paywallId, table.client] })],
);
