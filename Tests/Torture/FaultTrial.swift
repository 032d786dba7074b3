import Cistern

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A store whose files begin to fail, and work again some time later. In a process of its own, which has to survive.
///
/// A faulty phase never changes what memory answers; whoever flushes is told; and when the files work again, the store
/// works by itself, with everything that had been flushed before.
struct FaultTrial {
  let directory: String
  let fault: Fault
  /// Whether the files fail while the store is being opened, and not only while it is used.
  let isEarly: Bool
  let durability: Durability
  private var random: Mixer
  private var model = FaultModel()
  private let reports = Reports()
  private(set) var refusals: [String] = []

  init(directory: String, seed: UInt64) {
    self.directory = directory
    random = Mixer(state: seed)
    fault = Fault(&random)
    // What is opened, mapped and cut is so at the opening, or when it is opened again.
    let isSoon = random.next(below: 4) == 0
    isEarly = isSoon || [.open, .map, .cut].contains(fault.kinds[0])
    durability = random.next(below: 2) == 0 ? .powerCut : .processCrash
  }

  /// Whether all is as it has to be; says what is not.
  mutating func run() async throws -> Bool {
    var (store, cache) = try open()
    model.write(80, to: cache, &random)
    try await store.flush()
    model.flushed()
    // A full device is met by evicting.
    model.evicts = fault.error == ENOSPC || fault.error == EDQUOT
    if isEarly {
      try await store.close()
      (store, cache) = try await openWhileFailing()
      model.trim(store)
    } else {
      fault.begin()
    }
    for turn in 0..<6 {
      model.write(12, to: cache, &random)
      await flush(store)
      model.check(cache, "failing")
      if turn == 3 { model.trim(store) }
    }
    Fault.end()
    try await recover(store)
    model.write(30, to: cache, &random)
    do {
      try await store.flush()
      model.flushed()
    } catch {
      model.note("the files work, and flushing fails: \(error)")
    }
    model.check(cache, "working again")
    compareReports()
    try await store.close()
    let (again, sameCache) = try open()
    model.checkReopened(sameCache)
    try await again.close()
    compareReports()
    for fault in model.faults { say(fault) }
    return model.faults.isEmpty
  }

  private func open() throws -> (Store, FaultModel.Values) {
    let reports = reports
    var options = DiskOptions(limit: .mebibytes(4), durability: durability)
    // Faults last for some rounds, not for seconds.
    options.retryInterval = .milliseconds(2)
    let tier = try DiskTier(directory: directory, options: options, report: { reports.add($0) })
    let store = try Store(secondTier: tier, memoryLimit: .mebibytes(16))
    return (store, try store.cache("values", of: [UInt8].self, keyedBy: String.self))
  }

  /// Opening either works or says what is wrong; it works once the files do.
  private mutating func openWhileFailing() async throws -> (Store, FaultModel.Values) {
    fault.begin()
    for _ in 0..<8 {
      do {
        return try open()
      } catch let error as CisternError {
        refusals.append("opening: \(error.code)")
        let expected = expectedAtOpening
        if !expected.contains(error.code) { model.note("opening fails with \(error.code): \(error)") }
      }
    }
    Fault.end()
    return try open()
  }

  private var expectedAtOpening: [CisternError.Code] {
    switch fault.error {
    case ENOSPC, EDQUOT: [.noSpace]
    case EACCES, EROFS: [.directoryUnusable]
    default: [.diskFailed]
    }
  }

  /// Flushing either works, and then all is on disk, or says what is wrong.
  private mutating func flush(_ store: Store) async {
    do {
      try await store.flush()
      model.flushed()
    } catch {
      model.failedToFlush()
      refusals.append("flushing: \(error.code)")
      if error.code != .noSpace && error.code != .diskFailed {
        model.note("flushing fails with \(error.code): \(error)")
      }
    }
  }

  /// The store tries again by itself; whoever flushes has it do so at once.
  mutating func recover(_ store: Store) async throws {
    for _ in 0..<20 where store.statistics.disk?.mode == .degraded {
      await flush(store)
    }
    await flush(store)
    let mode = store.statistics.disk?.mode
    if mode != .active { model.note("the files work, and the store is \(mode.map { "\($0)" } ?? "gone")") }
  }

  private mutating func compareReports() {
    let text = reports.text
    if text.contains("setAside") { model.note("set aside: \(text)") }
    if text.contains("damagedRecord") { model.note("damaged: \(text)") }
    if reports.count(of: .degraded) != reports.count(of: .recovered) { model.note("not all is recovered: \(text)") }
  }
}
