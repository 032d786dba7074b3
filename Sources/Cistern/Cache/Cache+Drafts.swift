extension Cache {
  /// A scratch layer over the cache, whose writes stay in it until they are saved together.
  public func draft() -> Draft<Key, Value> { Draft(of: self) }
}

extension Cache: DraftParent {
  func watch(_ key: Key) -> UInt64 { UInt64(table.watch(table.hash(key)).changes) }

  func unwatch(_ key: Key) { table.unwatch(table.hash(key)) }

  func version(of key: Key) -> UInt64 {
    UInt64(table.watched(key, hash: table.hash(key)).version.changes)
  }

  func take(
    _ draft: DraftState<Key, Value>, _ policy: DraftConflictPolicy<Key, Value>, context: WriterContext?
  ) throws(CisternError) -> WriteOutcome {
    try policy.check(draft) { version(of: $0) }
    return try writeTogether(
      draft.batch.keys, context: context, dependsOnCached: dependsOnCached || policy.isMerge
    ) { key, finding throws(CisternError) in
      let version = UInt64(finding.version.changes)
      guard let (write, isResolved) = try draft.write(of: key, over: finding.value, version: version, policy) else {
        return PlannedWrite(.keep)
      }
      switch write {
      case .remove: return PlannedWrite(.remove)
      // What was resolved has what both have. All else that arrives is merged.
      case .store(let value, let storing) where isResolved: return PlannedWrite(.store(value), storing)
      case .store(let value, let storing):
        return PlannedWrite(
          .store(try merged(value, over: finding.usable, forKey: key)), storing, effect: arrivalEffect)
      }
    }
  }

  func waitForRoom() { secondTier?.partition.waitForRoom() }

  nonisolated(nonsending) func waitForRoom() async { await secondTier?.partition.waitForRoom() }
}
