import CAllocations
import Workloads

/// Measures one subject as a memory tier: the space per entry, and the cost of hits and of a mix of reads and writes.
/// Bounded subjects also run loads in a cache for a tenth of the entries.
struct MemoryComparison<Subject: MemorySubject> {
  let name: String
  let kind: String
  let entries: Int
  let requests: Int
  private let passes = 3

  func run() throws {
    let values = (0..<entries).map(Subject.value)
    let before = cistern_allocated_bytes()
    let full = try Subject(capacity: entries * 2)
    // The keys are new objects, so that the storage that the subject keeps of them also counts.
    for rank in 0..<entries { full.setValue(values[rank], forKey: Subject.key(rank)) }
    if before >= 0 {
      report("space", metric: "bytes_per_entry", Double(cistern_allocated_bytes() - before) / Double(entries))
    }
    for threads in [1, 2] {
      // Each thread has its own new keys. No subject profits from identity, and threads share no reference counts.
      let ranks = (0..<threads).map { ZipfRanks(count: entries).draw(requests, seed: UInt64($0 + 1)) }
      let keys = ranks.map { LentKeys(ownKeys($0)) }
      hits(full, keys: keys)
      mix(full, ranks: ranks, keys: keys, values: values)
      if Subject.isBounded {
        load(try Subject(capacity: entries / 10), ranks: ranks, keys: keys, values: values)
      }
    }
  }

  private func hits(_ subject: Subject, keys: [LentKeys<Subject.Key>]) {
    measure("hits", threads: keys.count) { thread in
      var misses = 0
      let keys = keys[thread]
      for index in keys.indices where !isHit(subject, keys[index]) { misses += 1 }
      return misses
    }
  }

  private func mix(_ subject: Subject, ranks: [[Int]], keys: [LentKeys<Subject.Key>], values: [Subject.Value]) {
    measure("mix", threads: keys.count) { thread in
      var misses = 0
      let keys = keys[thread]
      for index in keys.indices {
        if index & 3 == 3 {
          set(values[ranks[thread][index]], of: keys[index], in: subject)
        } else if !isHit(subject, keys[index]) {
          misses += 1
        }
      }
      return misses
    }
  }

  private func load(_ subject: Subject, ranks: [[Int]], keys: [LentKeys<Subject.Key>], values: [Subject.Value]) {
    measure("load", threads: keys.count) { thread in
      var misses = 0
      let keys = keys[thread]
      for index in keys.indices where !isHit(subject, keys[index]) {
        misses += 1
        set(values[ranks[thread][index]], of: keys[index], in: subject)
      }
      return misses
    }
  }

  // Not inlined: otherwise the loop would count a reference to the key.
  @inline(never)
  private func isHit(_ subject: Subject, _ lent: borrowing LentKeys<Subject.Key>.LentKey) -> Bool {
    subject.value(forKey: lent.key) != nil
  }

  @inline(never)
  private func set(_ value: Subject.Value, of lent: borrowing LentKeys<Subject.Key>.LentKey, in subject: Subject) {
    subject.setValue(value, forKey: lent.key)
  }

  /// Measures a workload. `body` returns the misses of its thread.
  private func measure(_ workload: String, threads: Int, _ body: @escaping @Sendable (Int) -> Int) {
    let misses = Counts(threads)
    func pass() -> Double { time(threads: threads) { misses.set(body($0), of: $0) } / Double(requests) }
    // The first pass warms up.
    _ = pass()
    let began = processorTime()
    let costs = (0..<passes).map { _ in pass() }
    let processor = Double(processorTime() - began) / Double(passes * requests * threads)
    report(workload, threads: threads, metric: "ns", median(costs))
    report(workload, threads: threads, metric: "processor_ns", processor)
    report(workload, threads: threads, metric: "miss_ratio", Double(misses.sum) / Double(requests * threads))
  }

  private func report(_ workload: String, threads: Int = 1, metric: String, _ value: Double) {
    var figure = Figure(
      group: "memory", workload: "\(workload)/\(kind)/\(entries)", subject: name, metric: metric, value: value)
    figure.threads = threads
    figure.print()
  }

  private func ownKeys(_ ranks: [Int]) -> [Subject.Key] {
    var made: [Int: Subject.Key] = [:]
    return ranks.map { rank in
      if let key = made[rank] { return key }
      let key = Subject.key(rank)
      made[rank] = key
      return key
    }
  }
}

enum MemoryComparisons {
  /// `memory SUBJECT KEY ENTRIES REQUESTS`
  static func run(_ arguments: [String]) async throws {
    guard arguments.count == 4, let entries = Int(arguments[2]), let requests = Int(arguments[3]) else {
      Compared.fail("memory SUBJECT KEY ENTRIES REQUESTS")
    }
    func run<Chosen: MemorySubject>(_ subject: Chosen.Type) throws {
      try MemoryComparison<Chosen>(name: arguments[0], kind: arguments[1], entries: entries, requests: requests).run()
    }
    switch (arguments[0], arguments[1]) {
    case ("Cistern", "int"): try run(CisternSubject<Int>.self)
    case ("Cistern", "string"): try run(CisternSubject<String>.self)
    case ("Dictionary+Mutex", "int"): try run(DictionarySubject<Int>.self)
    case ("Dictionary+Mutex", "string"): try run(DictionarySubject<String>.self)
    case ("NSCache", "int"): try run(NSCacheSubject<Int>.self)
    case ("NSCache", "string"): try run(NSCacheSubject<String>.self)
    default: Compared.fail("no subject \(arguments[0]) with keys of kind \(arguments[1])")
    }
  }
}
