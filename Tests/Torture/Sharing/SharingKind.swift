import Cistern

/// A kind of round of the trial with several processes.
enum SharingKind: String, CaseIterable {
  /// The disk has space for everything, and memory holds no value, so that each read comes from disk.
  case roomy
  /// Each process also keeps values in memory.
  case cached
  /// The disk evicts.
  case small
  /// Each opening draws another limit.
  case shrinking
  /// Each opening draws another schema version.
  case versions
  /// Each opening draws another layout of the data file.
  case layouts

  var memoryLimit: ByteCount { self == .cached ? .mebibytes(1) : .bytes(1) }

  /// Whether every committed value stays readable by every process.
  var keepsEverything: Bool { self == .roomy || self == .cached || self == .layouts }

  /// Whether a read comes from disk, so that reads of several processes must agree.
  var readsDisk: Bool { self != .cached }

  /// Whether only a process that has the directory alone can open it with other settings.
  var needsDirectoryAlone: Bool { self == .shrinking || self == .layouts }

  /// Returns the settings of an opening.
  func settings(_ random: inout Mixer) -> SharingSettings {
    SharingSettings(
      diskLimit: diskLimit(&random), layout: layout(&random),
      versions: SharedKey.cacheNames.map { _ in self == .versions ? UInt32(1 + random.next(below: 3)) : 1 })
  }

  /// The settings of an opening that reads everything at the end.
  var finalSettings: SharingSettings {
    SharingSettings(
      diskLimit: self == .small || self == .shrinking ? .kibibytes(512) : .mebibytes(16), layout: nil,
      versions: SharedKey.cacheNames.map { _ in self == .versions ? 3 : 1 })
  }

  private func diskLimit(_ random: inout Mixer) -> ByteCount {
    switch self {
    case .roomy, .cached, .versions, .layouts: .mebibytes(16)
    case .small: .kibibytes(512)
    case .shrinking: [.kibibytes(512), .mebibytes(1), .mebibytes(4)][random.next(below: 3)]
    }
  }

  private func layout(_ random: inout Mixer) -> DiskLayout? {
    self == .layouts ? [nil, .dense, .ordered][random.next(below: 3)] : nil
  }
}

/// The settings with which a process opens the store and its caches.
struct SharingSettings {
  let diskLimit: ByteCount
  /// The layout of the file, or nil for the one that it has.
  let layout: DiskLayout?
  /// The schema version of each cache.
  let versions: [UInt32]

  /// The settings as one word of the log.
  var text: String {
    "\(diskLimit.bytes)-\(layout?.rawValue ?? "any")-\(versions.map { "\($0)" }.joined(separator: "-"))"
  }

  func openStore(
    _ directory: String, memoryLimit: ByteCount, reportHandler: @escaping @Sendable (StoreReport) -> Void
  ) throws -> Store {
    var configuration = Store.Configuration()
    configuration.durability = .processCrash
    configuration.commitInterval = .milliseconds(1)
    configuration.diskLayout = layout
    configuration.reportHandler = reportHandler
    return try Store(
      directory: directory, memoryLimit: memoryLimit, diskLimit: diskLimit, configuration: configuration)
  }

  func openCaches(of store: Store) throws -> [Cache<String, [UInt8]>] {
    try zip(SharedKey.cacheNames, versions).map { name, version in
      var configuration = CacheConfiguration<[UInt8]>()
      configuration.schema = CacheSchema(version: version) { bytes, _ in bytes }
      return try store.cache(name, of: [UInt8].self, keyedBy: String.self, configuration: configuration)
    }
  }
}
