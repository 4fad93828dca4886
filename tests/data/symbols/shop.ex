# defmodule Ghost do end
defmodule Acme.Shop do
  @moduledoc """
  def fake(x), do: x
  """
  use GenServer
  @limit 3
  @type t :: integer

  @doc "Adds."
  @spec add(integer, integer) :: integer
  def add(a, b \\ 1) when is_integer(a) and b > 0 do
    own = fn x -> x end
    "#{own.(a)} do"
  end

  def add(a, _), do: a
  def none, do: 1
  def valid?(x), do: x
  defp helper!(x) do x end
  def unquote(name)(x), do: x
  def a <> b, do: a
  defmacro __using__(opts) do
    quote do
      def injected(x), do: x
    end
  end
  defguard is_big(x) when x > 3
  defdelegate size(x), to: Map
  defmodule Inner do
    def deep(), do: 1
  end
  @impl true
  def handle_call(:get, _from, state) do
    {:reply, state, state}
  end
end
defprotocol Shape do
  @doc "It."
  def area(x)
end
defimpl Shape, for: Acme.Shop do
  def area(_), do: 1
end
defimpl Shape, for: [A, B] do
  def area(_), do: 1
end
