import { type Static, Type } from 'typebox';
import { endpoint } from './endpoint.ts';
import { dataOf, RowId } from './site.ts';
import { OneLine, Timestamp } from './vocabulary.ts';

const members = {
  avatar: Type.String({ description: 'The address of a picture; empty where there is none.' }),
  createdAt: Timestamp,
  email: Type.String({ description: 'Empty until one is set.' }),
  id: RowId,
  name: Type.String(),
  updatedAt: Timestamp,
};

/** The person who calls. */
export const Profile = Type.Object(members, { $id: 'Profile' });

const ChatThread = Type.Object({ id: Type.String(), title: Type.String(), updatedAt: Timestamp });

const access = { apiKey: 'workspace', login: 'any', token: 'profile' } as const;
const errors = ['unauthenticated', 'permission', 'out_of_scope'] as const;
const Email = Type.String({
  maxLength: 254,
  pattern: '^[^\\s@\\u0000-\\u001f\\u007f]+@[^\\s@\\u0000-\\u001f\\u007f]+$',
  description: 'An address like `ann@example.org`; unique on this host, in upper or lower case.',
});

/** The caller's profile. */
export const getProfile = endpoint({
  id: 'getProfile',
  method: 'GET',
  path: '/api/settings/profile',
  summary: 'Show your profile.',
  description: 'Of a key it is the profile of whoever owns the key.',
  tag: 'Profile',
  access,
  surface: 'site',
  result: dataOf(Profile),
  errors,
});

/** Changes the caller's profile. */
export const updateProfile = endpoint({
  id: 'updateProfile',
  method: 'PATCH',
  path: '/api/settings/profile',
  summary: 'Change your profile.',
  description: 'What is left out stays.',
  tag: 'Profile',
  access,
  surface: 'site',
  body: Type.Object(
    {
      name: Type.Optional(OneLine({ maxLength: 255, description: 'Your name, for people.' })),
      email: Type.Optional(Email),
      avatar: Type.Optional(
        Type.String({
          maxLength: 2048,
          pattern: '^(https?://[^\\s\\u0000-\\u001f\\u007f]+)?$',
          description: 'The http or https address of a picture; empty for none.',
        }),
      ),
      handle: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 64,
          pattern: '^[A-Za-z0-9][A-Za-z0-9_-]*$',
          description:
            'Letters, digits, `_` and `-`, the first one a letter or digit; unique on this host, and kept in lower case.',
        }),
      ),
    },
    { additionalProperties: false, minProperties: 1 },
  ),
  result: dataOf(Profile),
  errors: [...errors, 'invalid_request'],
});

/** Deletes the caller. */
export const deleteProfile = endpoint({
  id: 'deleteProfile',
  method: 'DELETE',
  path: '/api/settings/profile',
  summary: 'Delete yourself from this host.',
  description:
    'Your logins, tokens and memberships end, your keys end or pass to the owner of their workspace without the scopes `keys`, `billing` and `workspace`, your shouts go; whispers stay with whoever they went to, from a deleted user. Whoever runs the host, and the last owner of a workspace with other members, cannot do it.',
  tag: 'Profile',
  access,
  surface: 'site',
  body: Type.Object(
    { email: Type.String({ minLength: 1, maxLength: 254, description: 'Your own, to be sure.' }) },
    { additionalProperties: false },
  ),
  result: dataOf(Type.Object({ deleted: Type.Literal(true) })),
  errors: [...errors, 'invalid_request'],
});

/** Who calls, and what they talked about last. */
export const getMe = endpoint({
  id: 'getMe',
  method: 'GET',
  path: '/api/me',
  summary: 'Show who you are.',
  description: 'Your profile with your handle, and your latest chats.',
  tag: 'Profile',
  access,
  surface: 'site',
  query: Type.Object({
    chat_limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: Number.MAX_SAFE_INTEGER,
        description: 'How many chats; 50 unless told, and never more than 200.',
      }),
    ),
  }),
  result: dataOf(
    Type.Object({
      user: Type.Object({ ...members, handle: Type.String() }),
      chatThreads: Type.Array(ChatThread),
    }),
  ),
  errors: [...errors, 'invalid_request'],
});

export type Profile = Static<typeof Profile>;
export type ChatThread = Static<typeof ChatThread>;
