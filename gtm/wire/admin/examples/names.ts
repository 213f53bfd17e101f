/** Names that examples of requests and of answers share. */
export const CONVERSATION = "4q8t1v7k0c2me";
export const DECISION = "01K5Z6V2QW8Y3N4M7R9T0A1B2C";
export const OPERATION = "01K5Z6W8D3F5H7K9M1P3R5T7V9";
export const OVERRIDE = "01K5Z6X0B2C4E6G8J0M2P4R6T8";
export const CHALLENGE = "_acme-challenge.chat.llm.example.com";
export const CHALLENGE_VALUE = "LoqXcYV8q5ONbJQxbmR7SCTNo3tiAXDfowyjxAjEuX0";
export const TOKEN = "tk-9f86d081884c7d65";
