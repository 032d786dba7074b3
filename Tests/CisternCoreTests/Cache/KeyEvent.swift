/// The events of a key that its life cycle can tell apart.
enum KeyEvent: CaseIterable, Sendable {
  case lookUp, load, cancelledLoad, staleLoad, reload, bulkLoad
  case set, commitlessUpdate, asynchronousUpdate, batch, draft, edit
  case remove, batchedRemoval, removeAll, removeByTag, removeByPrefix
  case trim, becomeStale, expire, commitBehind, loseRecord
}
