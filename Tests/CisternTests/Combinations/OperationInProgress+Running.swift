import Cistern
import CisternTesting
import Locking

extension OperationInProgress {
  /// Runs the operation, which passes the trial's checkpoint.
  func run(in arena: Arena) async {
    switch self {
    case .lookUp: _ = arena.lookUp()
    case .mergingSet: arena.set()
    case .update: await arena.caller { await arena.asynchronousUpdate() }.value
    case .edit(let ending): await arena.caller { await arena.edit(ending) }.value
    case .load(let form): await arena.run(form)
    case .draft(let form): await arena.run(form)
    case .batch(let form): await arena.run(form)
    case .both(.batch): arena.writeBoth()
    case .both(.committed): await arena.committing { await arena.caller { await arena.commitBoth() }.value }
    case .both(.draft): await arena.draftBoth()
    case .both(.nestedDraft): await arena.draftBothNested()
    case .contents: await arena.followContents()
    case .enumeration: await arena.enumerateStepByStep()
    }
    if arena.checkpoint.point.isInFlight { await arena.waitForFlights() }
    await arena.checkpoint.pass(.answered)
    arena.hold.open()
    if probesAgain { await arena.load(probePolicy) }
    if self == .load(.breaking) { await arena.closeCircuit() }
  }

  /// Whether the same caller loads again after its first load failed.
  private var probesAgain: Bool {
    self == .load(.failing) || self == .load(.timeout) || self == .load(.failingWindowed) || self == .load(.breaking)
  }

  private var probePolicy: LoadPolicy {
    switch self {
    case .load(.timeout): .freshElseStale.timingOut(after: Arena.timeout)
    case .load(.failingWindowed): .cachedOrFetch
    case .load(.breaking): .reload
    default: .freshElseStale
    }
  }
}

// MARK: Loads

extension Arena {
  fileprivate func run(_ form: OperationInProgress.LoadForm) async {
    switch form {
    case .plain, .limited, .windowed: await caller { await load(.cachedOrFetch) }.value
    case .bulk: await caller { await bulkLoad() }.value
    case .freshElseStale: await caller { await load(.freshElseStale) }.value
    case .refresh, .mergingRefresh: await caller { await load(.reload) }.value
    case .failing: await caller { await load(.freshElseStale, fetching: .failing) }.value
    case .failingRefresh: await caller { await load(.reload, fetching: .failing) }.value
    case .softTimeout: await leave(by: .freshElseStale.returningStale(after: Self.timeout))
    case .timeout:
      await leave(by: .freshElseStale.timingOut(after: Self.timeout))
      let now = journal.tick()
      journal.change { $0.failures.append(now) }
    case .failingWindowed: await caller { await load(.cachedOrFetch, fetching: .failing) }.value
    case .breaking: await openCircuit()
    case .keeping: await caller { await loadAnew(.keeping) }.value
    case .absent: await caller { await loadAnew(.absence) }.value
    case .returning: await caller { await loadAnew(.returning) }.value
    case .removing: await caller { await loadAnew(.removing) }.value
    case .bulkWithContexts: await caller { await bulkLoadWithContexts() }.value
    case .requestedRefresh:
      refresh()
      await waitForFlights()
    case .announcing:
      await caller { await loadAnnouncing() }.value
      await waitForFlights()
    case .joiningWithTimeout:
      await join(caller { await load(.cachedOrFetch, fetching: .held) })
    case .joiningBulkWithTimeout:
      await join(caller { await leaveOut() })
    case .leavingBulk: await leaveBulk()
    }
  }

  /// Runs a refresh whose failure opens the circuit breaker.
  private func openCircuit() async {
    await caller { await load(.reload, fetching: .failing) }.value
    let now = journal.tick()
    journal.change { $0.openCircuit = Record.Span(began: now) }
  }

  /// Waits until the circuit breaker is half-open, and runs a refresh that closes it.
  fileprivate func closeCircuit() async {
    let now = journal.tick()
    journal.change { $0.openCircuit?.ended = now }
    clock.advance(by: Self.openDuration)
    await load(.reload)
  }

  /// Runs a bulk load whose caller leaves, while another caller waits for the other key of the fetch.
  private func leaveBulk() async {
    let caller = caller { await bulkLoad(fetching: .held) }
    while hold.arrivalCount == 0 { await Task.yield() }
    let joins = cache.statistics.joins
    let other = task { _ = try? await cache.value(forKey: Self.absentKey) { _ in Document() } }
    while cache.statistics.joins == joins { await Task.yield() }
    caller.cancel()
    await caller.value
    await checkpoint.pass(.led)
    hold.open()
    await other.value
  }

  /// Runs a bulk load whose fetch does not return the key.
  private func leaveOut() async {
    _ = try? await cache.values(forKeys: [Self.key]) { _ in
      await hold.passUncancelled()
      return [:]
    }
  }

  /// Runs a load whose timeout ends while its fetch is held.
  private func leave(by policy: LoadPolicy) async {
    let caller = caller { await load(policy, fetching: .held) }
    while journal.record.fetches.isEmpty { await Task.yield() }
    clock.advance(by: Self.timeout)
    await caller.value
  }

  /// Joins a held flight with a caller that has a timeout, and releases the flight shortly before that timeout. If
  /// the joiner begins another flight, that flight is held for longer.
  private func join(_ leader: Task<Void, Never>) async {
    while hold.arrivalCount == 0 { await Task.yield() }
    await checkpoint.pass(.led)
    let next = Gate()
    let isAnswered = Guarded(false)
    let joiner = task {
      defer { isAnswered.withLock { $0 = true } }
      let policy = LoadPolicy.cachedOrFetch.timingOut(after: Self.timeout)
      _ = try? await cache.value(forKey: Self.key, tags: [Self.tag], policy: policy) { _ in
        await next.passUncancelled()
        return Document()
      }
    }
    // Only the joiner has a timer.
    while clock.sleeperCount == 0, !isAnswered.withLock({ $0 }) { await Task.yield() }
    clock.advance(by: Self.timeout - .seconds(1))
    await checkpoint.pass(.joined)
    hold.open()
    await leader.value
    for _ in 0..<20 { await Task.yield() }
    clock.advance(by: .seconds(1))
    await joiner.value
    next.open()
  }
}

// MARK: Batches

extension Arena {
  fileprivate func run(_ form: OperationInProgress.BatchForm) async {
    switch form {
    case .plain: writeBatch()
    case .committed: await committing { await caller { await commitBatch() }.value }
    case .parts: writeParts()
    case .partAfterRemoval: writePartAfterRemoval()
    }
  }

  private func writeBatch() {
    let batched = try? cache.batch { batch in
      checkpoint.passAtOnce(.batchBody)
      return write(to: &batch)
    }
    if let batched { noteReplacement(by: batched.mark, since: batched.began) }
  }

  private func commitBatch() async {
    let batched = try? await cache.commitBatch { batch in write(to: &batch) }
    if let batched { noteReplacement(by: batched.mark, since: batched.began) }
  }

  private func write(to batch: inout Batch<String, Document>) -> (mark: Int, began: Int) {
    let began = journal.tick()
    let mark = journal.mark(.set)
    batch.setValue(Document(mark), forKey: Self.key, tags: [Self.tag])
    batch.setValue(Document(), forKey: Self.bystander, tags: [Self.otherTag])
    return (mark, began)
  }

  private func writePartAfterRemoval() {
    let mark = journal.mark(.set)
    let began = try? cache.batch { batch in
      batch.removeValue(forKey: Self.key)
      checkpoint.passAtOnce(.batchBody)
      batch.setValue(Document(mark), forKey: Self.key, tags: [Self.tag])
      return journal.tick()
    }
    guard let began else { return }
    journal.noteErasure(.replacement, since: began)
    journal.noteStored(mark, since: began)
  }

  private func writeParts() {
    let marks = [journal.mark(.set), journal.mark(.set)]
    let began = try? cache.batch { batch in
      batch.setValue(Document(marks[0]), forKey: Self.key, tags: [Self.tag])
      checkpoint.passAtOnce(.batchBody)
      batch.setValue(Document(marks[1]), forKey: Self.key, tags: [Self.tag])
      return journal.tick()
    }
    guard let began else { return }
    for mark in marks { journal.noteStored(mark, since: began) }
  }
}
