/** Complete requirements of a feature "login", a draft. */
export const REQUIREMENTS = `---
feature: login
status: DRAFT
---

# login

## 1. Problem
People cannot log in.

## Users
Everyone.

## Requirements
| id | requirement | priority |
|---|---|---|
| R-001 | Log in | Must |
| R-002 | Log out | Should |

## Non-functional requirements
| id | requirement | priority |
|---|---|---|

### In scope
- log in

### Out of scope
- sign up

## Acceptance criteria
- [ ] one can log in

## Test scenarios
| id | given | when | then |
|---|---|---|---|
| S-001 | a user | logs in | sees the page |

## Open questions
| id | question | priority | answer |
|---|---|---|---|
`;
