import Cistern

/// The keys of a run, numbered from 0, with their names and the sources and sizes of their values.
struct KeySpace: Sendable {
  /// The source of the values' bodies.
  enum Bodies: Sendable, Equatable {
    /// Files in this folder. The body of key `k` is file `k % paths.count`.
    case files(folder: String, paths: [String])
    /// Synthetic bytes of each key's size.
    case synthetic
  }

  let names: [String]
  let bodies: Bodies
  /// The size of each key's body in bytes, without the stamp. The array has the same count as `names`.
  let sizes: [Int]

  var count: Int { names.count }

  /// The sum of the sizes of all values in bytes, including stamps.
  var footprint: Int { sizes.reduce(0, +) + sizes.count * Stamp.size }

  /// Returns the path of the file with the key's body, or nil if bodies are synthetic.
  func path(of key: Int) -> String? {
    guard case .files(let folder, let paths) = bodies else { return nil }
    return folder + "/" + paths[key % paths.count]
  }

  /// Returns the part of the key's name up to its first slash, including the slash.
  ///
  /// Returns nil if the name has no slash. Otherwise, the whole name could be a prefix of an unrelated name.
  func prefix(of key: Int) -> String? {
    let name = names[key]
    return name.firstIndex(of: "/").map { String(name[...$0]) }
  }
}

extension KeySpace {
  /// Creates `count` keys for the files of a folder. If `count` is greater than the number of files, files have
  /// several keys.
  init(folder: String, files: [FolderScan.File], count: Int) {
    let paths = files.map(\.path)
    names = (0..<count).map { key in
      let round = key / paths.count
      return paths[key % paths.count] + (round == 0 ? "" : "?copy=\(round)")
    }
    sizes = (0..<count).map { files[$0 % files.count].size }
    bodies = .files(folder: folder, paths: paths)
  }

  /// Creates keys with synthetic bodies of one size.
  init(count: Int, valueSize: Int) {
    names = (0..<count).map { "group\($0 % 16)/key\($0)" }
    sizes = Array(repeating: max(0, valueSize - Stamp.size), count: count)
    bodies = .synthetic
  }

  /// The maximum size of a synthetic value.
  static let largestValue = ByteCount.gibibytes(1)

  /// Creates the keys of a trace, with the sizes in the trace. Throws if a size is greater than `largestValue`.
  init(trace: Trace, valueSize: Int?) throws {
    if valueSize == nil, let largest = trace.sizes.compactMap(\.self).max(), largest > Self.largestValue.bytes {
      throw CommandFailure(
        "the trace has an object of \(ByteCount.bytes(largest)), but the maximum size of a value is \(Self.largestValue); "
          + "--value-size gives all values the same size", status: .badInput)
    }
    names = trace.keys
    sizes = trace.sizes.map { max(0, (valueSize ?? $0 ?? 4_096) - Stamp.size) }
    bodies = .synthetic
  }
}
