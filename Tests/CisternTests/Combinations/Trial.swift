import CisternTesting
import Locking

@testable import CisternCore

/// One run of a combination.
struct Trial {
  let combination: Combination
  let arena: Arena

  init(_ combination: Combination, over backing: Arena.Backing) async throws {
    self.combination = combination
    let interference = combination.interference
    // The interruption uses the arena, which is created together with the checkpoint.
    let arena = Guarded<Arena?>(nil)
    let interruption: Checkpoint.Interruption =
      if combination.point.isSynchronous {
        .runAtOnce { if let arena = arena.withLock({ $0 }) { interference.runAtOnce(in: arena) } }
      } else if combination.performer == .callback {
        .run { if let arena = arena.withLock({ $0 }) { await interference.run(in: arena) } }
      } else {
        .wait
      }
    let made = try await Arena(for: combination, over: backing, checkpoint: Checkpoint(combination.point, interruption))
    arena.withLock { $0 = made }
    self.arena = made
    release = { arena.withLock { $0 = nil } }
  }

  /// Breaks the reference cycle between the arena and its checkpoint.
  private let release: @Sendable () -> Void

  /// Runs both operations, and returns each contradiction of a property.
  func run(_ generator: SeededGenerator) async throws -> [Property.Finding] {
    var generator = generator
    defer { release() }
    let (arena, checkpoint) = (arena, arena.checkpoint)
    let token = arena.cache.observe { arena.audit.take($0) }
    defer { token.cancel() }
    arena.observeContents("the contents from the beginning on")
    arena.enter(combination.situation)
    if combination.point == .secondTierRead {
      arena.tier?.setAfterLoad { key in
        if key == Array(Arena.key.utf8) { checkpoint.passAtOnce(.secondTierRead) }
      }
    }
    if combination.point == .room { arena.tier?.room.close() }
    let operation = arena.task {
      await combination.operation.run(in: arena)
      checkpoint.end()
    }
    let room = arena.task { await arena.watchRoom() }
    let reader = combination.writesBoth ? arena.task { await arena.readBoth(until: { checkpoint.hasEnded }) } : nil
    await checkpoint.waitForArrival()
    if combination.performer == .anotherTask, checkpoint.wasReached, !combination.point.isSynchronous {
      await interfere(&generator)
    }
    checkpoint.release()
    await operation.value
    await checkpoint.waitForInterruption()
    await room.value
    await reader?.value
    arena.tier?.setAfterLoad(nil)
    let evidence = try await Evidence(of: self)
    return Property.all.flatMap { property in
      property.findings(evidence).map { Property.Finding(property: property.name, text: $0) }
    }
  }

  /// Runs the second operation while the first one waits.
  private func interfere(_ generator: inout SeededGenerator) async {
    let (arena, interference) = (arena, combination.interference)
    // A bulk load also fetches another key or joins its fetch, which waits for space to store the value.
    let needsRoom = interference.isBulkLoad && combination.point == .room
    let isSatisfied = interference.returnsFreshValue && !needsRoom && arena.cache.contains(Arena.key)
    let task = arena.task { await interference.run(in: arena) }
    if interference.isSynchronous || isSatisfied {
      // The second operation must not wait for the first. If it does, the schedule ends in a deadlock.
      await task.value
    } else {
      for _ in 0..<generator.next(below: 8) { await Task.yield() }
    }
    arena.notePresenceOnDisk()
    arena.checkpoint.release()
    await task.value
  }
}

extension Arena {
  /// Creates the initial situation of the key.
  func enter(_ situation: Situation) {
    if file == nil { setBystander() }
    switch situation {
    case .absent: return
    case .olderRecord: return
    case .newerRecord: return file == nil ? Self.leaveRecord(Document(0), version: 7, in: cache, clock) : ()
    case .fresh, .onDisk, .due, .dueOnDisk, .stale, .staleOnDisk, .staleForErrors, .staleForErrorsOnDisk,
      .dueUseOnDisk:
      break
    }
    if file?.mark == nil {
      let began = journal.tick()
      let mark = journal.mark(.situation)
      cache.setValue(Document(mark), forKey: Self.key, tags: [Self.tag])
      noteReplacement(by: mark, since: began)
    } else if !situation.isOnDiskOnly {
      // Memory gets the value.
      _ = cache[Self.key]
    }
    if situation == .dueUseOnDisk { age(by: Self.idleTime / 2) }
    if situation.isDue { age(by: Self.lifetime * Self.refreshFraction + .nanoseconds(1)) }
    if situation.isStaleForErrors {
      age(by: Self.lifetime + Self.revalidation + .nanoseconds(1))
    } else if situation.isStale {
      age(by: Self.lifetime + .nanoseconds(1))
    }
    if situation.isOnDiskOnly { cache.trim(toCost: 0) }
  }

  /// Writes a record like one from another version of the program.
  static func leaveRecord(
    _ document: Document, version: UInt32, in cache: Cache<String, Document>, _ clock: ManualClock
  ) {
    guard let partition = cache.secondTier?.partition else { return }
    var metadata = expiry.metadata(created: clock.wallTime(), cost: 1, tags: [tag])
    metadata.schemaVersion = version
    _ = partition.stage(.record(key: Array(key.utf8), metadata, bytes: DocumentCodec().encode(document)))
  }

  /// Passes the checkpoint when a write waits for space, and then provides the space.
  func watchRoom() async {
    guard checkpoint.point == .room, let room = tier?.room else { return }
    while room.waitingCount == 0, !checkpoint.hasEnded { await Task.yield() }
    if room.waitingCount > 0 { await checkpoint.pass(.room) }
    room.open()
  }

  /// Records the document on disk while edits are pending.
  func notePresenceOnDisk() {
    guard let bytes = tier?.committedBytes(of: Self.key, in: Self.partition) else { return }
    let document = DocumentCodec().decode(bytes)
    let tick = journal.tick()
    journal.change { $0.seenOnDisk.append((document, tick)) }
  }
}
