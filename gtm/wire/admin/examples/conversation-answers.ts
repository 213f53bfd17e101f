/** Examples of answers: conversations, where they are at home and who holds how much of them. */
import type { Answers } from "./answers.ts";
import { CONVERSATION } from "./names.ts";

const HELD = {
  id: CONVERSATION,
  pool: "chat",
  model: "llama-3.3-70b",
  home: "eu-central",
  isHomeOrdered: false,
  contextTokens: 20173,
  turns: 5,
  idleMs: 41200,
  isPinned: true,
  holdings: [{ region: "eu-central", replica: null, tokens: 20173, ageMs: 41200 }],
  refusedBy: [],
  rev: 5,
};

export const CONVERSATION_ANSWERS: Answers = {
  "get /conversations": { answer: { items: [HELD], next_cursor: null, examined: 1, isShort: false } },
  "get /conversations/{id}": { answer: { ...HELD, history: [] } },
  "delete /conversations/{id}": {
    answer: { id: CONVERSATION, released: true },
    plan: {
      conversation: CONVERSATION,
      isKnown: true,
      etag: '"5"',
      from: "eu-central",
      contextTokens: 20173,
      unreleased: { region: "eu-central", ttftMs: 109 },
      released: { region: "eu-central", ttftMs: 3012 },
    },
  },
  "post /conversations/{id}/move": {
    answer: {
      ...HELD,
      home: "us-east",
      isHomeOrdered: true,
      holdings: [
        { region: "us-east", replica: null, tokens: 0, ageMs: 41200 },
        { region: "eu-central", replica: null, tokens: 20173, ageMs: 41200 },
      ],
      rev: 6,
      history: [],
    },
    plan: {
      conversation: CONVERSATION,
      etag: '"5"',
      from: "eu-central",
      to: "us-east",
      contextTokens: 20173,
      recomputeTokens: 20173,
      recomputeMs: 2910,
      ttftMs: 3371,
      unmoved: { region: "eu-central", ttftMs: 109 },
      afterwards: {
        region: "us-east",
        isMovedBack: false,
        explanation: "Stays in us-east, which holds 20 473 tokens of it.",
      },
      isLocated: true,
    },
  },
};
