import Workloads

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Measures the guarantees of the library and their references alternately in one run, and prints a table in Markdown.
@main
enum Ratios {
  static let groups: [(name: String, about: String, rows: @Sendable () async throws -> [Row])] = [
    ("hits", "hits in memory", hits),
    ("space", "memory per entry, allocations per hit", { try MemorySpace(entries: 1_000_000).rows() }),
    ("sets", "sets that evict", { try await MemorySets(entries: 1_000_000, sets: 500_000).rows() }),
    ("clearing", "clearing a million entries", { try await Clearing(entries: 1_000_000).rows() }),
    ("invalidating", "invalidations beside a fetch that does not end", { try await Invalidating().rows() }),
    ("refreshing", "hits while an entry is refreshed", { try await Refreshing().rows() }),
    (
      "loading", "joining a flight, loading alone and with a context",
      {
        try await Loading().rows() + LoadingAlone().rows()
      }
    ),
    ("reads", "hits on disk", { try await DiskReads().rows() }),
    (
      "layouts", "the dense layout beside the ordered one",
      {
        try await LayoutReads().rows() + LayoutWrites().rows()
      }
    ),
    (
      "transactions", "the bytes and the time of commits",
      {
        try await WrittenBytes().rows() + LongestFlush().rows()
      }
    ),
    ("density", "the share of a disk limit that values take", { try await Density().rows() }),
    ("density-large", "the same of a limit of 1 GiB", { try await Density().shares(of: .gibibytes(1)) }),
    ("traces", "hits on disk of the traces in a folder", { try await TraceHits(folder: traces).rows() }),
    ("large", "the share that stays beside large values", { try await LargeValues().rows() }),
    ("enumerating", "keys and entries of a million records", { try await Enumerating(entries: 1_000_000).rows() }),
    ("writes", "writes to disk", { try await DiskWrites().rows() }),
    ("opening", "opening a store of a million entries", { try await Opening(entries: 1_000_000).rows() }),
    ("shrinking", "opening with a smaller limit", { try await Shrinking(entries: 100_000).rows() }),
  ]

  /// The folder that `--traces` names.
  private static let traces: String? = {
    let arguments = CommandLine.arguments
    guard let flag = arguments.firstIndex(of: "--traces"), flag + 1 < arguments.count else { return nil }
    return arguments[flag + 1]
  }()

  static func main() async throws {
    var names = Array(CommandLine.arguments.dropFirst())
    if traces != nil, let flag = names.firstIndex(of: "--traces") { names.removeSubrange(flag...flag + 1) }
    if let flag = names.firstIndex(of: "--processor-time") {
      names.remove(at: flag)
      usesProcessorTime.store(true, ordering: .relaxed)
    }
    if let unknown = names.first(where: { name in !groups.contains { $0.name == name } }) {
      print(
        "usage: Ratios [--processor-time] [--traces FOLDER] [GROUP …]    measures all groups by default")
      print("  --processor-time  counts processor time instead of clock time, for busy machines")
      print("  --traces FOLDER   also replays the traces in FOLDER, *.csv with `key` or `key,size` in each line")
      for group in groups { print("  \(group.name)  \(group.about)") }
      exit(unknown == "--help" || unknown == "-h" ? 0 : 2)
    }
    let clock = usesProcessorTime.load(ordering: .relaxed) ? "processor time" : "clock time"
    print("\(Machine.description); \(clock), medians of interleaved rounds\n")
    print(Row.header)
    for group in groups where names.isEmpty || names.contains(group.name) {
      for row in try await group.rows() {
        print(row.line)
        // Printed immediately, also through a pipe.
        fflush(nil)
      }
    }
  }

  @Sendable private static func hits() async throws -> [Row] {
    var rows: [Row] = []
    for entries in [16_000, 1_000_000] {
      rows += try await MemoryHits<Int>(entries: entries, lookUps: 1_000_000).rows()
      rows += try await MemoryHits<String>(entries: entries, lookUps: 1_000_000).rows()
    }
    return rows
  }
}
