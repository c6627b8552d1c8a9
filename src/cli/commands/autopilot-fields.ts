// Generated from src/shared/contract/autopilots.ts by `npm run endpoints`.
// biome-ignore-all format: generated

/** The fields of an option that takes a JSON object: their type and, unless the name says it, their meaning. */
type Fields = Readonly<Record<string, string>>;

export const policyFields: Fields = {
  modelProvider: "Text. The only provider that its model is called at.",
  model: "Text. Its model; the default model of the host if it is absent.",
  toolAllowlist: "A list of http_request, paid_http_request. The only tools it may use.",
  toolDenylist: "A list of http_request, paid_http_request. Tools it may not use.",
  modelSpendCap: "An object: usd (Text), period (day or month or total). Maximum charges for its model calls per period, in UTC, of all its runs together. Without it, only the limits of the key and the workspace apply.",
  l402RequireApproval: "true or false. Whether it only pays in runs that were started with maxSpendMsats; true unless it is set to false.",
  l402MaxSpendMsatsPerCall: "A whole number. Maximum amount of one payment, in millisatoshis; without it, it cannot pay.",
  l402MaxSpendMsatsPerDay: "A whole number. Maximum amount per UTC day, fees included, in millisatoshis; without it, it cannot pay.",
  l402AllowedHosts: "A list of texts. The only hosts it may send requests to and pay: api.example.com, 127.0.0.1:8080, or *.example.com for every name below it. Without a port, port 443 for https and 80 for http; api.example.com:* is every port. Without them, it cannot send requests.",
};

export const profileFields: Fields = {
  ownerDisplayName: "Text.",
  personaSummary: "Text.",
  autopilotVoice: "Text.",
  principles: "A list of texts.",
  preferences: "An object.",
  onboardingAnswers: "An object.",
};
