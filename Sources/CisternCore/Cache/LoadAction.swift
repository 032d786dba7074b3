extension Loader {
  /// The action of a load of one key after the decision of its entry.
  @usableFromInline
  enum LoadAction {
    case use(Loaded<Value>)
    /// The value is there. The caller starts the flight.
    case useAndRefresh(Loaded<Value>, Flight<Value>)
    case join(Flight<Value>, waiter: Int, WaitLimits<Value>?)
    /// The caller starts the flight, and waits for it.
    case lead(Flight<Value>, waiter: Int, WaitLimits<Value>?)
    /// Neither tier has a value that the policy accepts, and the policy does not fetch one.
    case fail
  }

  /// The result of the first half of a load.
  @usableFromInline
  enum LoadStart {
    /// The value is there.
    case loaded(Loaded<Value>)
    /// The load waits for a flight, as the waiter with this number.
    case waiting(Flight<Value>, waiter: Int, Loaded<Value>.Source)
    /// The load does not wait without end, or may return an older value.
    case waitingWithLimits(LimitedLoad<Key, Value>)
  }
}
