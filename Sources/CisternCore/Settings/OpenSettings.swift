/// The settings of an open store or cache, by name. They show how another opening differs.
package struct OpenSettings: Sendable {
  private struct Setting: Sendable {
    let name: String
    /// The value; nil for a setting that the opening leaves open.
    let value: (any Hashable & Sendable)?
  }

  private var settings: [Setting] = []

  package init() {}

  /// Adds a setting with a value that can be compared.
  package mutating func add(_ name: String, _ value: some Hashable & Sendable) {
    settings.append(Setting(name: name, value: value))
  }

  /// Adds a setting that may be nil. Nil is shown as "none".
  package mutating func add(_ name: String, _ value: (some Hashable & Sendable)?) {
    if let value { add(name, value) } else { add(name, "none") }
  }

  /// Adds a setting that an opening can leave open. Nil agrees with every value.
  package mutating func add(_ name: String, ifGiven value: (some Hashable & Sendable)?) {
    settings.append(Setting(name: name, value: value))
  }

  /// Adds a closure. Closures cannot be compared, so only their presence counts.
  package mutating func add(_ name: String, isGiven: Bool) {
    add(name, isGiven ? "given" : "none")
  }

  /// Adds an object by its identity, or a value by its description.
  package mutating func add(_ name: String, instance: (any Sendable)?) {
    guard let instance else { return add(name, "none") }
    let isObject = type(of: instance) is AnyClass
    add(
      name,
      Instance(
        description: isObject ? "\(type(of: instance))" : "\(instance)",
        object: isObject ? ObjectIdentifier(instance as AnyObject) : nil))
  }

  /// Returns one phrase for each setting that differs in `other`, for example "diskLimit is 16 MiB, not 17 MiB".
  package func differences(in other: OpenSettings) -> [String] {
    zip(settings, other.settings).compactMap { mine, theirs in
      guard let value = mine.value, let other = theirs.value, AnyHashable(value) != AnyHashable(other) else {
        return nil
      }
      let (current, wanted) = ("\(value)", "\(other)")
      return current == wanted
        ? "\(mine.name) is another instance of \(current)" : "\(mine.name) is \(current), not \(wanted)"
    }
  }

  /// Returns the error for an opening with these differences.
  package static func conflict(_ subject: String, _ differences: [String], location: String) -> CisternError {
    CisternError(
      .conflictingOpen,
      "\(subject) is open in this process with other settings: \(differences.joined(separator: "; ")). "
        + "Open it with the same settings, or use the open instance",
      location: location)
  }

  private struct Instance: Hashable, Sendable, CustomStringConvertible {
    let description: String
    let object: ObjectIdentifier?
  }
}
