extension StoreDraft {
  /// Saves all writes into the layer below, or nothing.
  ///
  /// The method returns when the values are readable there. Use ``commit(onConflict:context:)`` to wait for the disk.
  ///
  /// Saves of one draft on several threads follow each other, and are no conflicts of one another. The closures that a
  /// save calls must therefore not wait for another save of this draft, and not save a draft that another thread saves.
  /// After a discard during a save, a later write of a saved key can conflict with that save.
  ///
  /// - Parameters:
  ///   - policy: The resolution of conflicts, which are keys that changed below.
  ///   - context: The identity of the writer, for ``Change/context``. A draft of a draft ignores it.
  /// - Throws: `CisternError`, as ``Store/batch(context:_:)`` does. If the policy is to throw, conflicts throw
  ///   ``CisternError/Code/conflict``, with a ``StoreDraftConflictError`` as the cause. In all cases, the draft keeps
  ///   its writes and can be saved again. After a write of a key that does not equal itself, each save
  ///   throws ``CisternError/Code/invalidArgument`` until a discard.
  public func save(
    onConflict policy: StoreDraftConflictPolicy = .throw, context: WriterContext? = nil
  ) throws(CisternError) {
    for layer in layers.all where !layer.isEmpty { layer.waitForRoom() }
    _ = try push(policy, context: context)
  }

  /// Saves all writes, like ``save(onConflict:context:)``, and returns when they are on disk.
  ///
  /// A draft of a draft does not wait for the disk, because it saves into the memory of the other draft. No draft waits
  /// for writes that another save has taken, for example of another thread.
  ///
  /// - Parameters:
  ///   - policy: The resolution of conflicts, which are keys that changed below.
  ///   - context: The identity of the writer, for ``Change/context``. A draft of a draft ignores it.
  /// - Throws: `CisternError`, as ``save(onConflict:context:)`` does, and if the disk refuses the writes or fails. In
  ///   the latter cases, the values are saved in memory, if it can hold them, and the draft no longer has the writes.
  public nonisolated(nonsending) func commit(
    onConflict policy: StoreDraftConflictPolicy = .throw, context: WriterContext? = nil
  ) async throws(CisternError) {
    for layer in layers.all where !layer.isEmpty { await layer.prepareToCommit() }
    try await push(policy, context: context)?.waitForCommit()
  }

  /// Returns the outcome in the caches; nil for a save into another draft.
  private func push(
    _ policy: StoreDraftConflictPolicy, context: WriterContext?
  ) throws(CisternError) -> StoreWriteOutcome? {
    try saves.perform { () throws(CisternError) in try pushInOrder(policy, context: context) }
  }

  /// Saves the draft. No other thread saves it at the same time.
  private func pushInOrder(
    _ policy: StoreDraftConflictPolicy, context: WriterContext?
  ) throws(CisternError) -> StoreWriteOutcome? {
    switch base {
    case .store(let store):
      try store.checkIsOpen(to: "saving a draft")
      let saves = beginSaving(policy, context: context)
      defer { for save in saves { save.close() } }
      return try push(saves) { () throws(CisternError) in
        try store.shared.write(saves.filter(\.hasWrites).map { $0.memberWrites() })
      }
    case .draft(let draft):
      let saves = beginSaving(policy, context: context)
      defer { for save in saves { save.close() } }
      try push(saves) { () throws(CisternError) in
        let written = saves.filter(\.hasWrites)
        repeat { for save in written { try save.plan() } } while !draft.applyPlans(of: written)
      }
      return nil
    }
  }

  /// Returns the saves of all layers. No nested draft saves into this one in between.
  private func beginSaving(_ policy: StoreDraftConflictPolicy, context: WriterContext?) -> [any StoreDraftSave] {
    var saves: [any StoreDraftSave] = []
    layers.together { layers in
      for layer in layers { saves.append(layer.beginSaving(policy, context: context)) }
    }
    return saves
  }

  /// Applies the saves of all layers by `write`. Begins again if a key changed after the check for conflicts.
  private func push<Outcome>(
    _ saves: [any StoreDraftSave], _ write: () throws(CisternError) -> Outcome
  ) throws(CisternError) -> Outcome {
    for save in saves { try save.checkKeys() }
    while true {
      let conflicts = saves.compactMap { save in
        save.conflict().map { (cache: save.identity, name: save.name, error: $0) }
      }
      if !conflicts.isEmpty { throw StoreDraftConflictError(conflicts).wrapped }
      do throws(CisternError) {
        let outcome = try write()
        for save in saves { save.end() }
        return outcome
      } catch {
        // A key changed after the check. The next check finds all of them.
        if error.code != .conflict { throw error }
      }
    }
  }

  /// Applies the planned writes of a draft of this one, all or none. Returns false if a key was written since they were
  /// planned.
  ///
  /// A save of this draft does not begin in between, so that it saves all of them or none.
  private func applyPlans(of saves: [any StoreDraftSave]) -> Bool {
    layers.together { _ in Self.applyPlans(of: saves[...]) }
  }

  /// Locks one layer after the other, and writes while all are locked.
  private static func applyPlans(of saves: ArraySlice<any StoreDraftSave>) -> Bool {
    guard let first = saves.first else { return true }
    return first.applyPlan { applyPlans(of: saves.dropFirst()) }
  }
}
