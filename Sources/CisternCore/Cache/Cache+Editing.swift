extension Cache {
  /// Shows a change of a value at once. Keeps it if `operation` confirms it, and withdraws it otherwise.
  ///
  /// ```swift
  /// try await articles.editValue(forKey: id) { article in
  ///   var article = article
  ///   article?.title = "A better title"
  ///   return article
  /// } confirmedBy: {
  ///   try await client.rename(id, to: "A better title")
  /// }
  /// ```
  ///
  /// Every look-up finds the changed value, and observers get it, before this suspends. Then `operation` runs, in the
  /// caller's task:
  ///
  /// - If it returns a value, for example the one that a server stored, the key gets that value. The value is merged if
  ///   the cache merges.
  /// - If it returns nil, the changed value stays.
  /// - If it throws or is cancelled, the change is withdrawn.
  ///
  /// Several edits of a key can be in progress. Each is kept or withdrawn separately. Readers see the confirmed value
  /// with all unconfirmed changes applied, in the order in which the edits began. A change that is confirmed before an
  /// earlier one comes before it from then on.
  ///
  /// A load, set, update, batch or draft replaces the confirmed value, and the changes are applied to the new one. A
  /// load that began before an edit was confirmed does not replace it. A removal ends the edits. Their operations
  /// continue, and nothing of them is stored.
  ///
  /// A shown value has no lifetime. While an edit is pending, look-ups and loads return it as a fresh value. The
  /// confirmed value may then be in grace or gone. A value that is gone does not come back. An edit that is confirmed
  /// later is applied to no value, and after a failed edit the key is absent.
  ///
  /// No unconfirmed value is on disk, nor in ``withBytes(forKey:_:)``. A crash leaves the confirmed value.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - options: The lifetime and the tags of the confirmed value, and the writer of all changes of the edit.
  ///   - change: The closure that returns the shown value. It receives the value below the edit, which may be in grace,
  ///     or nil for no value. It runs outside all locks, whenever the value below changes. It should have no other
  ///     effect, and must not write the key.
  ///   - operation: The closure that confirms the change.
  /// - Returns: The confirmed value; nil if the key has none, was removed concurrently, or no tier takes the value.
  /// - Throws: The error of `operation`, and `CisternError` if its value cannot be merged, or if the key does not equal
  ///   itself.
  @discardableResult
  public nonisolated(nonsending) func editValue(
    forKey key: Key, options: UpdateOptions = UpdateOptions(), _ change: @escaping @Sendable (Value?) -> Value?,
    confirmedBy operation: () async throws -> Value?
  ) async throws -> Value? {
    try Task.checkCancellation()
    guard key == key else { throw CisternError.unequalKey(key, in: "editing a value") }
    let edit = EditInProgress<Key>(
      key: table.hashed(key), number: edits.makeNumber(), options: ReplacementOptions(options))
    // The table knows that a key has edits only while the key is watched.
    table.watch(edit.key)
    defer { table.unwatch(edit.key) }
    _ = conditionalWriter.optimisticEdits.changeEdits(edit.key, options: edit.options) { queue, _ throws(Never) in
      queue.add(EditQueue.Edit(number: edit.number, change: change))
      return .shows
    }
    do {
      let answer = try await operation()
      await secondTier?.partition.waitForRoom()
      return try confirm(edit, answer: answer)
    } catch {
      let changed = conditionalWriter.optimisticEdits.changeEdits(edit.key, options: edit.options) {
        queue, _ throws(Never) in
        guard queue.contains(edit.number) else { return .nothing }
        queue.withdraw(edit.number)
        return .shows
      }
      // A value that a fetch announced before shows the withdrawn change.
      if changed != nil { table.flight(of: edit.key)?.withdrawAnnouncement() }
      throw error
    }
  }

  private func confirm(_ edit: EditInProgress<Key>, answer: Value?) throws(CisternError) -> Value? {
    let number = edit.number
    return try conditionalWriter.optimisticEdits.changeEdits(edit.key, options: edit.options) {
      queue, usable throws(CisternError) in
      guard queue.contains(number) else { return .nothing }
      // A value whose lifetime has ended does not come back, edited or not.
      let isGone = usable == nil && queue.base != nil
      if isGone { queue.replaceBase(by: nil) }
      guard let answer else {
        let isFirst = queue.pending.first?.number == number
        queue.confirm(number)
        return isFirst && !isGone ? .confirmsShownValue : .confirms
      }
      queue.confirm(number, by: try conditionalWriter.merged(answer, over: usable, for: edit.key.key))
      return .confirms
    }?.queue.base
  }
}

/// An edit whose operation runs.
private struct EditInProgress<Key: Hashable & Sendable> {
  let key: HashedKey<Key>
  let number: EditNumber
  /// The options of the confirmed value.
  let options: ReplacementOptions
}
