/** What another system answered, or why it did not do what it was asked: a failure is a value. */
export type Answer<Value, Failure extends { isOk: false }> = { isOk: true; value: Value } | Failure;
